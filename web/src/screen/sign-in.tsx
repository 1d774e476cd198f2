import { useState, type ReactElement } from "react";
import { signIn } from "../api/gateway.ts";

/** Asks for the deployment's token. It is kept in memory and forgotten with the tab. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): ReactElement {
  const [token, setToken] = useState("");
  return (
    <form
      className="sign-in card"
      onSubmit={(event) => {
        event.preventDefault();
        signIn(token.trim());
        onSignedIn();
      }}
    >
      <h1>Sign in</h1>
      <label>
        Token of this deployment, or your own
        <input
          type="password"
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.target.value)}
          required
        />
      </label>
      <button type="submit" className="primary">
        Sign in
      </button>
      <p className="quiet">The token stays in the memory of this tab.</p>
    </form>
  );
}
