/** Changes a request before it goes out, and may send it again. */
export type Wrap = (send: typeof fetch) => typeof fetch

let wrap: Wrap = (send) => send

/** A page in a frame puts in the token that it was handed. It does this once, at its start. */
export function wrapRequests(next: Wrap): void {
  wrap = next
}

/** Sends requests to the server for whoever is signed in. */
export const outgoing =
  (send: typeof fetch): typeof fetch =>
  (input, init) =>
    wrap(send)(input, init)

export const serverFetch = outgoing((input, init) => fetch(input, init))
