/** The client closed its connection, or was dropped. There is nobody to answer, so it is neither reported nor a bug. */
export class ClientGone extends Error {
  constructor() {
    super('the client has gone')
    this.name = 'ClientGone'
  }
}

/** For writers that need not wait: one that does not must not turn a reader that left into an unhandled rejection. */
export function rejectAsGone(): Promise<never> {
  const rejected = Promise.reject(new ClientGone())
  rejected.catch(() => {})
  return rejected
}
