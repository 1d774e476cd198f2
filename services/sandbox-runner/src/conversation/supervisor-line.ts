/** What a provider has to carry the conversation with a supervisor: bytes both ways, and a way to end it all. */
export interface LineListener {
  /** Bytes of the supervisor's standard output, in order: its frames. */
  stdout(bytes: Buffer): void;
  /** What it complains about. */
  stderr(bytes: Buffer): void;
  /** What came is not what such a line can carry. */
  fault(message: string): void;
  /** Nothing more will come; may be said more than once. */
  closed(): void;
}

export interface SupervisorLine {
  /** Of the container, process or machine behind it. */
  readonly id: string;
  /** Resolves with its exit status, -1 where it is not known, when it is gone. Never rejects. */
  readonly gone: Promise<number>;
  /** Called once, before anything is written. */
  listen(listener: LineListener): void;
  /** Resolves when more can be taken, or at once when there is nobody left to write to. */
  write(bytes: Buffer): Promise<void>;
  /** Stops reading until `resume`: the supervisor, and the command behind it, wait. */
  pause(): void;
  resume(): void;
  /** Ends it at once; one that is gone already is no fault. */
  kill(): Promise<void>;
  /** For one that `kill` did not end in time. */
  remove(): Promise<void>;
  /** Says in the provider's own listing whose it is now. */
  rename(name: string): Promise<void>;
  /** Drops the connection, as the end of this process would. */
  hangUp(): void;
}
