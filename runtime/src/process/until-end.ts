/**
 * Waits for one promise after another, each until an end that may come at any time. A `Promise.race` with the promise of the end
 * would keep what every earlier race gave until the end has come, such as all pieces of a stream.
 */
export class UntilEnd {
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(end: Promise<unknown>) {
    const ended = (): void => {
      this.#hasEnded = true;
      this.#wake();
    };
    end.then(ended, ended);
  }

  /** Null: the end came first. One call at a time. */
  wait<T>(promise: Promise<T>): Promise<T | null> {
    promise.catch(() => undefined); // After the end nobody asks why it failed.
    if (this.#hasEnded) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(null);
      promise.then(resolve, reject);
    });
  }
}
