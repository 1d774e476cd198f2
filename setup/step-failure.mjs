/**
 * A failed step: the reason in one line, and a remedy. Any other thrown error is a defect of set-up itself and keeps its
 * stack.
 */
export class StepFailure extends Error {
  /**
   * @param {string} message one line, no trailing full stop
   * @param {string} remedy one line: a command to type or a package to install
   */
  constructor(message, remedy) {
    super(message);
    this.name = "StepFailure";
    this.remedy = remedy;
  }
}
