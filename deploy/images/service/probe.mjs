// The health check of a service image: `node probe.mjs live` (the process answers) or `ready` (and it is
// connected to NATS). It asks the service's own metrics endpoint, which exists once the service has started.
const wanted = process.argv[2] ?? "ready";
const port = process.env["ANTIPHON_METRICS_PORT"] ?? "9464";
const answer = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2_000) });
const connected = /^antiphon_bus_up\S* 1$/m.test(await answer.text());
process.exitCode = answer.ok && (wanted === "live" || connected) ? 0 : 1;
