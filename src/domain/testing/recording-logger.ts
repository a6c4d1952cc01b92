import type { LogFields, Logger } from '../logger.ts'

export interface LogLine {
  level: string
  message: string
  fields: LogFields
}

/** Collects the log lines. */
export function recordingLogger(lines: LogLine[], base: LogFields = {}): Logger {
  const at =
    (level: string) =>
    (message: string, fields: LogFields = {}) =>
      void lines.push({ level, message, fields: { ...base, ...fields } })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (fields) => recordingLogger(lines, { ...base, ...fields }),
  }
}
