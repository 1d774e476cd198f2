/**
 * A step that could not be done: what happened in one line, and what the reader can do about it.
 * Anything else that is thrown is a defect of the set-up itself and keeps its stack.
 */
export class StepFailure extends Error {
  /**
   * @param {string} message one line, no trailing full stop
   * @param {string} remedy one line, what to type or to install
   */
  constructor(message, remedy) {
    super(message);
    this.name = "StepFailure";
    this.remedy = remedy;
  }
}
