/** The client closed its connection, or we dropped it. Nobody is left to answer, so this is not reported and is not a bug. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
    this.name = 'ClientGone'
  }
}

/** Rejects without an unhandled rejection, because a writer does not have to wait for its write. */
export function rejectAsGone(): Promise<never> {
  const rejected = Promise.reject(new ClientGone())
  rejected.catch(() => {})
  return rejected
}
