// The health check of a service image: `node probe.mjs live` (the process answers) or `ready` (and it is
// connected to NATS). It asks the service's own metrics port, which is open once the service has started.
const wanted = process.argv[2] ?? "ready";
const port = process.env["ANTIPHON_METRICS_PORT"] ?? "9464";
const answer = await fetch(`http://127.0.0.1:${port}/${wanted}z`, { signal: AbortSignal.timeout(2_000) });
await answer.text();
process.exitCode = answer.ok ? 0 : 1;
