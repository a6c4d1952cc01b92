import type { LogFields, Logger } from '../../domain/logger.ts'

/** The log of one request. Each line has all fields that are known at that time. */
export class RequestLog implements Logger {
  readonly #log: Logger
  readonly #known: LogFields

  /** `known` may get more fields later. */
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
