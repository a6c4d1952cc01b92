/** What came over the connection is no answer, or only a part of one. */
export class HttpFramingError extends Error {
  readonly code = 'BAD_HTTP'
  constructor(what: string) {
    super(`The answer cannot be read: ${what}.`)
    this.name = 'HttpFramingError'
  }
}
