/** The engine's JSON, of which only a few parts are known. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
