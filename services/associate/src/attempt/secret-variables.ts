/** The variables of a run that hold a secret, by their names. Recordings of model calls hold stars in place of their values. Pure. */
const SECRET =
  /(?:KEY(?!BOARD|WORD)|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE|AUTH(?!ORS?(?:_|$))|COOKIE|DSN)/i;
/** Shorter values are common words. */
const SHORTEST = 6;
const MOST = 256;

export function secretValues(env: Readonly<Record<string, string>> = {}): readonly string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    SECRET.test(name) && value.length >= SHORTEST ? [value] : [],
  );
  return [...new Set(values)].slice(0, MOST);
}
