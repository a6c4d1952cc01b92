import type { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { OpenApiToolSettings } from '../../../domain/tool-settings.ts'
import type { OpenApiDocument } from './document.ts'
import type { Operation } from './operation.ts'

/** The base URL of an operation, without a slash at the end: from the settings, else the most specific one in the document. */
export function serverUrl(
  document: OpenApiDocument,
  operation: Operation,
  settings: OpenApiToolSettings,
  refuse: (problem: string) => ServerError,
): string {
  const found = settings.baseUrl ?? firstServer(operation.source, operation.pathItem, document.root)
  const ask = 'Write base_url, e.g. base_url: https://api.example.com/v1'
  if (found === null) throw refuse(`${document.file} names no server. ${ask}`)
  if (!/^https?:\/\//i.test(found)) throw refuse(`the server ${JSON.stringify(found)} is not a full URL. ${ask}`)
  if (/[{}?#]/.test(found)) throw refuse(`the server ${JSON.stringify(found)} contains one of { } ? #. ${ask}`)
  return found.replace(/\/+$/, '')
}

function firstServer(...places: Readonly<Record<string, unknown>>[]): string | null {
  for (const { servers } of places) {
    const server: unknown = Array.isArray(servers) ? servers[0] : undefined
    if (!isRecord(server) || typeof server.url !== 'string') continue
    const variables = isRecord(server.variables) ? server.variables : {}
    return server.url.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
      const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
      return isRecord(variable) && variable.default !== undefined ? String(variable.default) : whole
    })
  }
  return null
}
