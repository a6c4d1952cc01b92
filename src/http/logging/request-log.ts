import type { LogFields, Logger } from '../../domain/logger.ts'

/** The log of one request: each of its lines has what is known of the request by then. */
export class RequestLog implements Logger {
  readonly #log: Logger
  readonly #known: LogFields

  /** `known` may grow. */
  constructor(log: Logger, known: LogFields) {
    this.#log = log
    this.#known = known
  }

  debug(message: string, fields?: LogFields): void {
    this.#log.debug(message, { ...this.#known, ...fields })
  }

  info(message: string, fields?: LogFields): void {
    this.#log.info(message, { ...this.#known, ...fields })
  }

  warn(message: string, fields?: LogFields): void {
    this.#log.warn(message, { ...this.#known, ...fields })
  }

  error(message: string, fields?: LogFields): void {
    this.#log.error(message, { ...this.#known, ...fields })
  }

  with(fields: LogFields): Logger {
    return this.#log.with({ ...this.#known, ...fields })
  }
}
