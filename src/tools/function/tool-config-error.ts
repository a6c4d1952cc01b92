import { ServerError } from '../../domain/errors.ts'
import type { FunctionToolSettings } from '../../domain/tool-settings.ts'

/** `/srv/tools.ts:12 tool get_weather: …` */
export function toolConfigError(
  settings: FunctionToolSettings,
  message: string,
  place: { line?: number | null; cause?: unknown } = {},
): ServerError {
  const { line = null, cause } = place
  const where = line === null ? settings.file : `${settings.file}:${line}`
  return new ServerError('config_invalid', `${where} tool ${settings.name}: ${message}`, {
    details: { file: settings.file, line, tool: settings.name },
    cause,
  })
}
