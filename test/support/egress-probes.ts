/**
 * Ways past an egress gateway that code in a sandbox can try: bytes sent to the proxy on loopback, and attempts to go
 * around it. The sandbox may reach only `allowed`. Blocked means that the request is refused by a 4xx with its rule, or
 * the connection is closed, and that no upstream hears of it.
 */

export interface ProxyProbe {
  readonly name: string;
  /** Sent as Latin-1 to the proxy. */
  readonly send: string;
  /** Sent afterwards, inside TLS under this name. */
  readonly tls?: { readonly name: string | null; readonly send: string };
  /** The code it is refused with; absent if the connection is closed without an answer. */
  readonly code?: string;
}

const get = (target: string, host = "echo.example.test", more = ""): string =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;
const connect = (to: string): string => `CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`;

export function proxyProbes(allowed: string, forbidden: string, git: string): readonly ProxyProbe[] {
  const literal = (address: string): ProxyProbe => ({
    name: `address ${address}`,
    send: get(`http://${address}/`, address),
    code: "ANT_EGRESS_ADDRESS",
  });
  const malformed = (name: string, send: string): ProxyProbe => ({
    name,
    send,
    code: "ANT_EGRESS_MALFORMED",
  });
  const inside = (name: string, sni: string | null, send: string, code?: string): ProxyProbe => ({
    name,
    send: connect(`${allowed}:443`),
    tls: { name: sni, send },
    ...(code === undefined ? {} : { code }),
  });
  const gitAsk = (name: string, line: string, more = ""): ProxyProbe => ({
    name,
    send: connect(`${git}:443`),
    tls: { name: git, send: `${line} HTTP/1.1\r\nHost: ${git}\r\n${more}Connection: close\r\n\r\n` },
    code: "ANT_EGRESS_METHOD",
  });
  return [
    {
      name: "a host that is not allowed",
      send: get(`http://${forbidden}/`, forbidden),
      code: "ANT_EGRESS_HOST",
    },
    {
      name: "CONNECT to a host that is not allowed",
      send: connect(`${forbidden}:443`),
      code: "ANT_EGRESS_HOST",
    },
    { name: "a name below an allowed one", send: connect(`x.${allowed}:443`), code: "ANT_EGRESS_HOST" },
    {
      name: "an allowed name as a prefix",
      send: connect(`${allowed}.evil.test:443`),
      code: "ANT_EGRESS_HOST",
    },
    { name: "an allowed name as a suffix", send: connect(`evil${allowed}:443`), code: "ANT_EGRESS_HOST" },
    { name: "a port that is not allowed", send: connect(`${allowed}:22`), code: "ANT_EGRESS_HOST" },
    ...[
      ...[
        "127.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
      ],
      ...[
        "0x7f.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "8.8.8.8",
        "100.64.0.1",
        "224.0.0.1",
      ],
      ...["localhost", "metadata.google.internal", "printer.local", "db"],
    ].map(literal),
    { name: "CONNECT to metadata", send: connect("169.254.169.254:80"), code: "ANT_EGRESS_ADDRESS" },
    { name: "CONNECT to a bracketed address", send: connect("[::1]:443"), code: "ANT_EGRESS_ADDRESS" },
    malformed("a user name before the host", get(`http://${allowed}@${forbidden}/`)),
    malformed("a user name in CONNECT", connect(`${allowed}:443@${forbidden}:443`)),
    malformed("a trailing dot", get(`http://${allowed}./`, `${allowed}.`)),
    malformed("a percent-encoded host", get(`http://echo%2eexample%2etest/`)),
    malformed("a NUL in the host", get(`http://${allowed}%00.${forbidden}/`)),
    malformed("a raw NUL in the target", get(`http://${allowed}\0.${forbidden}/`)),
    malformed("a Unicode host", get(`http://\xe9cho.example.test/`)),
    malformed("a full-width dot", get(`http://echo\xe3\x80\x82example.test/`)),
    malformed("a backslash for a slash", get(`http://${allowed}\\@${forbidden}/`)),
    malformed("a backslash in the path", get(`http://${allowed}/\\..\\x`)),
    malformed("a fragment in the target", get(`http://${allowed}/#@${forbidden}/`)),
    malformed("dot segments", get(`http://${allowed}/a/../../b`)),
    malformed("encoded dot segments", get(`http://${allowed}/a/%2e%2e/b`)),
    malformed("doubly encoded dot segments", get(`http://${allowed}/a/%252e%252e/b`)),
    malformed("https to the proxy without CONNECT", get(`https://${allowed}/`)),
    malformed("another scheme", get(`ftp://${allowed}/`)),
    malformed("a path alone", get("/")),
    malformed("a port of zero", connect(`${allowed}:0`)),
    malformed("a port with a sign", connect(`${allowed}:+443`)),
    malformed("a port that is too large", connect(`${allowed}:65979`)),
    malformed("CONNECT without a port", connect(allowed)),
    { name: "Host of another", send: get(`http://${allowed}/`, forbidden), code: "ANT_EGRESS_MISMATCH" },
    {
      name: "Host of another port",
      send: get(`http://${allowed}/`, `${allowed}:8080`),
      code: "ANT_EGRESS_MISMATCH",
    },
    malformed("two Hosts", get(`http://${allowed}/`, allowed, `Host: ${forbidden}\r\n`)),
    malformed("no Host", `GET http://${allowed}/ HTTP/1.1\r\nConnection: close\r\n\r\n`),
    malformed(
      "two lengths",
      `POST http://${allowed}/ HTTP/1.1\r\nHost: ${allowed}\r\nContent-Length: 4\r\nContent-Length: 30\r\n\r\nbody`,
    ),
    malformed(
      "a length and chunks",
      `POST http://${allowed}/ HTTP/1.1\r\nHost: ${allowed}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ),
    malformed(
      "chunks by another name",
      `POST http://${allowed}/ HTTP/1.1\r\nHost: ${allowed}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    ),
    malformed(
      "chunks named twice",
      `POST http://${allowed}/ HTTP/1.1\r\nHost: ${allowed}\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`,
    ),
    malformed("a header with a space before its colon", get(`http://${allowed}/`, allowed, "X-A : b\r\n")),
    malformed("a folded header", get(`http://${allowed}/`, allowed, "X-A: b\r\n c\r\n")),
    malformed("a bare line feed", `GET http://${allowed}/ HTTP/1.1\nHost: ${allowed}\n\n`),
    malformed("a header of 20 KiB", get(`http://${allowed}/`, allowed, `X-A: ${"a".repeat(20_000)}\r\n`)),
    malformed("no HTTP at all", "SSH-2.0-OpenSSH_9.0\r\n\r\n"),
    malformed("HTTP/2 prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    {
      name: "TRACE",
      send: `TRACE http://${allowed}/ HTTP/1.1\r\nHost: ${allowed}\r\n\r\n`,
      code: "ANT_EGRESS_METHOD",
    },
    malformed("plain HTTP in a tunnel", `${connect(`${allowed}:443`)}${get("/", allowed)}`),
    malformed("another protocol in a tunnel", `${connect(`${allowed}:443`)}SSH-2.0-OpenSSH_9.0\r\n`),
    inside("TLS for another name in a tunnel", forbidden, get("/", forbidden)),
    inside("TLS for no name in a tunnel", null, get("/", allowed)),
    inside("Host of another in a tunnel", allowed, get("/", forbidden), "ANT_EGRESS_MISMATCH"),
    inside(
      "an absolute target in a tunnel",
      allowed,
      get(`https://${forbidden}/`, allowed),
      "ANT_EGRESS_MALFORMED",
    ),
    inside("a tunnel in a tunnel", allowed, connect(`${forbidden}:443`), "ANT_EGRESS_MALFORMED"),
    gitAsk("asking to push", "GET /project.git/info/refs?service=git-receive-pack"),
    gitAsk("pushing", "POST /project.git/git-receive-pack", "Content-Length: 0\r\n"),
    gitAsk("pushing by an escaped name", "POST /project.git/git%2Dreceive-pack", "Content-Length: 0\r\n"),
    gitAsk(
      "pushing with a second service",
      "GET /project.git/info/refs?service=git-upload-pack&service=git-receive-pack",
    ),
    gitAsk("pushing by an escaped service", "GET /project.git/info/refs?service=git%2Dreceive-pack"),
    gitAsk("pushing by doubled slashes", "POST /project.git//git-receive-pack", "Content-Length: 0\r\n"),
    gitAsk("the API of a git host", "POST /api/v3/repos", "Content-Length: 2\r\n"),
    gitAsk("a method by override", "GET /project.git/git-receive-pack", "X-HTTP-Method-Override: POST\r\n"),
  ];
}

/** Ways around the proxy: each one prints its name if it succeeds. */
export const DIRECT_PROBES: readonly (readonly [name: string, python: string])[] = [
  ["TCP to a public address", "socket.create_connection(('1.1.1.1', 443), 2)"],
  ["TCP to metadata", "socket.create_connection(('169.254.169.254', 80), 2)"],
  ["TCP to the bridge", "socket.create_connection(('172.17.0.1', 4222), 2)"],
  ["TCP over IPv6", "socket.create_connection(('2606:4700:4700::1111', 443), 2)"],
  ["UDP to a resolver", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))"],
  ["a name by the system's resolver", "socket.getaddrinfo('echo.example.test', 443)"],
  ["another port of loopback", "socket.create_connection(('127.0.0.1', 4222), 2)"],
  ["the proxy's port on every address", "socket.create_connection(('127.0.0.2', 3128), 2)"],
  [
    "taking over the proxy's port",
    "s = socket.socket(); s.setsockopt(1, 15, 1); s.bind(('127.0.0.1', 3128)); s.listen()",
  ],
];

/** Reads [{send, tls}] from stdin and prints the answer to each as one line of JSON. */
export const PROBE_RUNNER = `
import json, socket, ssl, sys
def answer(s):
    got = b""
    try:
        while len(got) < 65536:
            piece = s.recv(65536)
            if not piece: break
            got += piece
    except Exception as e: got += b"!" + type(e).__name__.encode()
    return got
for probe in json.load(sys.stdin):
    s = socket.create_connection(("127.0.0.1", 3128)); s.settimeout(8)
    out = b""
    try:
        s.sendall(probe["send"].encode("latin-1"))
        if probe.get("tls"):
            head = b""
            while b"\\r\\n\\r\\n" not in head:
                piece = s.recv(4096)
                if not piece: break
                head += piece
            if b" 200 " in head.split(b"\\r\\n")[0]:
                c = ssl.create_default_context(); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
                s = c.wrap_socket(s, server_hostname=probe["tls"]["name"])
                s.sendall(probe["tls"]["send"].encode("latin-1"))
            else: out = head
        else: s.shutdown(socket.SHUT_WR) if probe.get("half") else None
        out += answer(s)
    except Exception as e: out += b"!" + type(e).__name__.encode()
    print(json.dumps(out.decode("latin-1")[:3000]))
`;
