/** The place in the page, kept in the address after `#`, so that a link to a run can be shared. */
import { useEffect, useState } from "react";

export type Route =
  | { readonly page: "runs" }
  | { readonly page: "run"; readonly runId: string }
  | { readonly page: "session"; readonly sessionId: string }
  | { readonly page: "operations" };

export function routeOf(hash: string): Route {
  const [, page, id] = hash.replace(/^#/, "").split("/");
  if (page === "runs" && id !== undefined && /^run_[a-z0-9]{1,32}$/.test(id))
    return { page: "run", runId: id };
  if (page === "sessions" && id !== undefined && /^ses_[a-z0-9]{1,32}$/.test(id))
    return { page: "session", sessionId: id };
  return page === "operations" ? { page } : { page: "runs" };
}

export function useRoute(): Route {
  const [hash, setHash] = useState(window.location.hash);
  useEffect(() => {
    const changed = (): void => setHash(window.location.hash);
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return routeOf(hash);
}
