// The `openapi` kind: every operation of a document is a tool.

import { ServerError } from '../../../domain/errors.ts'
import { globMatches } from '../../../domain/glob.ts'
import type { OpenApiToolSettings, ToolRules } from '../../../domain/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import { callService, type HttpToolDeps } from '../service/call-service.ts'
import { parseHeaderTemplates } from '../template/header-templates.ts'
import { readOpenApiDocument } from './document.ts'
import { type Operation, operationsOf, planOperation } from './operation.ts'
import { operationDescription } from './operation-description.ts'
import { operationRequest } from './operation-request.ts'
import { serverUrl } from './server-url.ts'
import { toolName, uniqueName } from './tool-name.ts'

/** Beyond this most models refuse the request. */
const MANY_TOOLS = 128

/**
 * Reads the document and makes the tools, in the document's order. Throws `config_invalid` where the document, an operation that
 * is allowed, or the settings cannot be used; an operation whose body or parameters have no way into a call is left out with a
 * warning.
 */
export async function loadOpenApiTools(settings: OpenApiToolSettings, deps: HttpToolDeps): Promise<ServerTool[]> {
  const refuse = (problem: string) => new ServerError('config_invalid', `Tool ${settings.name}: ${problem}`)
  const headers = parseHeaderTemplates(settings.headers, refuse)
  const [argument] = headers.arguments
  if (argument !== undefined)
    throw refuse(
      `headers uses {${argument}}, but here no argument can stand in one. Write {{${argument}}} for the text.`,
    )
  const document = await readOpenApiDocument(settings.file)
  const given = new Set(Object.keys(settings.headers).map((name) => name.toLowerCase()))
  const log = deps.log.with({ tool: settings.name })

  const names = new Set<string>()
  const tools: ServerTool[] = []
  for (const operation of chosen(operationsOf(document), settings, deps)) {
    const plan = planOperation(document, operation, given)
    if (typeof plan === 'string') {
      log.warn('an operation is left out', { operation: labelOf(operation), reason: plan })
      continue
    }
    const place = {
      base: serverUrl(document, operation, settings, refuse),
      headers,
      allowPrivate: settings.allowPrivate,
    }
    const requestFor = operationRequest(operation.method, plan, place, refuse)
    const rules = rulesFor(operation.method, settings)
    const name = uniqueName(toolName(labelOf(operation)), names)
    tools.push({
      location: 'server',
      name,
      description: operationDescription(operation),
      parameters: plan.schema,
      // Documents describe answers loosely; a check would refuse good ones.
      returns: null,
      ...rules,
      binding: toolBinding('openapi', {
        ...requestOf(settings, place.base),
        method: operation.method,
        path: plan.path,
        parameters: plan.parameters,
        body: document.resolve(operation.source.requestBody),
      }),
      call: async (call, signal) =>
        callService(deps, { name, effect: rules.effect }, call, requestFor(call.arguments), signal),
    })
  }
  if (tools.length === 0) throw refuse(`${settings.file} has no operation that can be offered. Check allow and deny.`)
  if (tools.length > MANY_TOOLS)
    log.warn('more tools than most models take; choose with allow', { tools: tools.length, usual_limit: MANY_TOOLS })
  return tools
}

/** The host by value in any case: that must never be another one under an old yes. */
const requestOf = ({ bound, baseUrl, headers, allowPrivate }: OpenApiToolSettings, base: string) => ({
  base: baseUrl === null ? base : new URL(base).origin,
  allowPrivate,
  request: bound ?? { baseUrl, headers },
})

const labelOf = ({ id, method, path }: Operation): string => id ?? `${method.toLowerCase()}${path.replace(/[{}]/g, '')}`

/** An operation without an id is chosen by the name that its tool has. */
function chosen(
  operations: Operation[],
  { name, allow, deny }: OpenApiToolSettings,
  { log }: HttpToolDeps,
): Operation[] {
  const idOf = (operation: Operation) => operation.id ?? toolName(labelOf(operation))
  const unused = [...(allow ?? []), ...deny].filter(
    (pattern) => !operations.some((operation) => globMatches(pattern, idOf(operation))),
  )
  if (unused.length > 0) log.warn('allow or deny names operations that are not there', { tool: name, patterns: unused })
  return operations.filter((operation) => {
    const fits = (pattern: string) => globMatches(pattern, idOf(operation))
    return (allow === null || allow.some(fits)) && !deny.some(fits)
  })
}

/** Where the file leaves it open, the method says what a call does. */
function rulesFor(method: string, settings: OpenApiToolSettings): ToolRules {
  const { effect, risk, timeoutMs, retries, approval, predictState, written } = settings
  const rules = { effect, risk, timeoutMs, retries, approval, predictState }
  if (written.includes('effect')) return rules
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
      return { ...rules, effect: 'read', risk: written.includes('risk') ? risk : 'low' }
    case 'PUT':
    case 'DELETE':
      return { ...rules, effect: 'idempotent' }
    default:
      return rules
  }
}
