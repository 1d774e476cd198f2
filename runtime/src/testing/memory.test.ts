import { conformance } from "./conformance.ts";
import { MemoryBlobs } from "./memory-blobs.ts";
import { MemoryJournal } from "./memory-journal.ts";
import { MemoryKv } from "./memory-kv.ts";

const journal = new MemoryJournal();
const kv = new MemoryKv();
const blobs = new MemoryBlobs();

conformance("memory", { journal: () => journal, kv: () => kv, blobs: () => blobs });
