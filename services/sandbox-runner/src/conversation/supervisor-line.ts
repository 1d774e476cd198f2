/** The connection to a supervisor that a provider offers: bytes both ways, and the means to end the sandbox. */
export interface LineListener {
  /** The supervisor's standard output, in order: its frames. */
  stdout(bytes: Buffer): void;
  /** The supervisor's standard error. */
  stderr(bytes: Buffer): void;
  /** The received bytes are not valid on such a line. */
  fault(message: string): void;
  /** No more bytes will come. May be called more than once. */
  closed(): void;
}

export interface SupervisorLine {
  /** The id of the container, process or machine behind the line. */
  readonly id: string;
  /** Resolves with the exit status when the container is gone; -1 where the status is unknown. Never rejects. */
  readonly gone: Promise<number>;
  /** Called once, before anything is written. */
  listen(listener: LineListener): void;
  /** Resolves when the line can take more, or at once when the supervisor is gone. */
  write(bytes: Buffer): Promise<void>;
  /** Stops reading until `resume`. The supervisor and its command then wait. */
  pause(): void;
  resume(): void;
  /** Ends the container at once. A container that is already gone is no error. */
  kill(): Promise<void>;
  /** Removes a container that `kill` did not end in time. */
  remove(): Promise<void>;
  /** Shows the new owner in the provider's own listing. */
  rename(name: string): Promise<void>;
  /** Drops the connection, as the end of this process would. */
  hangUp(): void;
}
