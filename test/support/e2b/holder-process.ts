/** Prints its sandbox's id and holds the sandbox of an E2B service until it is killed, for tests that kill it. */
import { E2bProvider } from "../../../services/sandbox-runner/src/providers/e2b/e2b-provider.ts";
import { SMALL } from "../docker.ts";

const [url = "", apiKey = "", template = "", leaseMs = ""] = process.argv.slice(2);
const access = { apiKey, domain: null, apiUrl: url, sandboxUrl: url };
const provider = new E2bProvider({ template, access, leaseMs: Number(leaseMs) });
const sandbox = await provider.start({ imageId: template, limits: SMALL, labels: {} });
process.stdout.write(`${sandbox.id}\n`);
setInterval(() => undefined, 60_000);
