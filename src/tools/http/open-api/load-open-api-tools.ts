// The `openapi` kind: every operation of an OpenAPI document becomes a tool.

import type { OpenApiToolSettings, ToolRules } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { globMatches } from '../../../domain/text/glob.ts'
import { boundPart, parsedOrNull, shownUrl, writtenText } from '../../shown-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import { callService, type HttpToolDeps } from '../service/call-service.ts'
import { isPrivateHost, privateHostProblem } from '../service/safe-address.ts'
import type { ServiceRequest } from '../service/service-http.ts'
import { checkedHeaderValue, type HeaderTemplates, parseHeaderTemplates } from '../template/header-templates.ts'
import { queryPairs, simpleText } from '../template/parameter-style.ts'
import { type Arguments, argumentOf } from '../template/template.ts'
import { parseUrlTemplate } from '../template/url-template.ts'
import { type OpenApiDocument, readOpenApiDocument } from './document.ts'
import { type Operation, type OperationPlan, operationsOf, type ParameterPlan, planOperation } from './operation.ts'
import { toolName, uniqueName } from './tool-name.ts'

/** Most models refuse requests with more tools. */
const MANY_TOOLS = 128

/**
 * Reads the document and makes the tools, in the document's order. Throws `config_invalid` when the document, an allowed
 * operation or the settings cannot be used. An operation whose body or parameters cannot be sent is left out with a warning.
 */
export async function loadOpenApiTools(settings: OpenApiToolSettings, deps: HttpToolDeps): Promise<ServerTool[]> {
  const refuse = (problem: string) => new ServerError('config_invalid', `Tool ${settings.name}: ${problem}`)
  const headers = parseHeaderTemplates(settings.headers, refuse)
  const [argument] = headers.arguments
  if (argument !== undefined)
    throw refuse(
      `headers uses {${argument}}, but headers of an OpenAPI tool cannot hold arguments. Write {{${argument}}} if the braces are meant as text.`,
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
    const written = writtenText(boundPart(settings.bound, 'base_url'))?.replace(/\/+$/, '')
    const shownFor =
      written === undefined
        ? requestFor
        : parsedOrNull(() => operationRequest(operation.method, plan, { ...place, base: written }, refuse))
    const rules = rulesFor(operation.method, settings)
    const name = uniqueName(toolName(labelOf(operation)), names)
    tools.push({
      location: 'server',
      name,
      description: operationDescription(operation),
      parameters: plan.schema,
      // Documents describe answers loosely, so a check would refuse good ones.
      returns: null,
      ...rules,
      binding: toolBinding('openapi', {
        ...requestOf(settings, place.base),
        method: operation.method,
        path: plan.path,
        parameters: plan.parameters,
        body: document.resolve(operation.source.requestBody),
      }),
      action: shownFor === null ? undefined : (args) => `${operation.method} ${shownUrl(shownFor(args).url)}`,
      call: async (call, signal) =>
        callService(deps, { name, effect: rules.effect }, call, requestFor(call.arguments), signal),
    })
  }
  if (tools.length === 0) throw refuse(`${settings.file} has no operation that can be offered. Check allow and deny.`)
  if (tools.length > MANY_TOOLS)
    log.warn('there are more tools than most models accept; choose some with allow', {
      tools: tools.length,
      usual_limit: MANY_TOOLS,
    })
  return tools
}

const MIN_DESCRIPTION_CHARS = 10
/** OpenAI's limit for a function. */
const MAX_DESCRIPTION_CHARS = 1_024

/** What the document says about the operation. If that is too short to choose by, the method and path come first. */
function operationDescription({ method, path, source, pathItem }: Operation): string {
  const [summary, ...details] = [source.summary, source.description, pathItem.summary, pathItem.description]
    .map((text) => (typeof text === 'string' ? text.trim() : ''))
    .filter((text) => text !== '')
  const detail = details.find((text) => text !== summary)
  const deprecated = source.deprecated === true ? 'Deprecated.' : undefined
  const text = [deprecated, summary, detail].filter((part) => part !== undefined).join('\n')
  const enough = text.length >= MIN_DESCRIPTION_CHARS ? text : `${method} ${path}${text === '' ? '' : `: ${text}`}`
  const full = enough.length >= MIN_DESCRIPTION_CHARS ? enough : `Calls ${enough}.`
  return full.length > MAX_DESCRIPTION_CHARS ? `${full.slice(0, MAX_DESCRIPTION_CHARS - 1).toWellFormed()}…` : full
}

/** The host is bound by value, so that an old approval never covers another host. */
const requestOf = ({ bound, baseUrl, headers, allowPrivate }: OpenApiToolSettings, base: string) => ({
  base: baseUrl === null ? base : new URL(base).origin,
  allowPrivate,
  request: bound ?? { baseUrl, headers },
})

const labelOf = ({ id, method, path }: Operation): string => id ?? `${method.toLowerCase()}${path.replace(/[{}]/g, '')}`

/** `allow` and `deny` match an operation's id, or the name of its tool if it has none. */
function chosen(
  operations: Operation[],
  { name, allow, deny }: OpenApiToolSettings,
  { log }: HttpToolDeps,
): Operation[] {
  const idOf = (operation: Operation) => operation.id ?? toolName(labelOf(operation))
  const unused = [...(allow ?? []), ...deny].filter(
    (pattern) => !operations.some((operation) => globMatches(pattern, idOf(operation))),
  )
  if (unused.length > 0) log.warn('allow or deny names operations that do not exist', { tool: name, patterns: unused })
  return operations.filter((operation) => {
    const fits = (pattern: string) => globMatches(pattern, idOf(operation))
    return (allow === null || allow.some(fits)) && !deny.some(fits)
  })
}

/** If the file does not say what a call does, the method decides. */
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

interface OperationPlace {
  /** The address of the service, without a slash at the end. */
  base: string
  /** Headers of the settings. They override what the model says. */
  headers: HeaderTemplates
  allowPrivate: boolean
}

/** Returns a function that builds the request for given arguments. Throws at once when no arguments could work. */
function operationRequest(
  method: string,
  plan: OperationPlan,
  place: OperationPlace,
  refuse: (problem: string) => ServerError,
): (args: Arguments) => ServiceRequest {
  const url = parseUrlTemplate(place.base + plan.path, refuse)
  if (!place.allowPrivate && isPrivateHost(url.base)) throw refuse(privateHostProblem(url.base))
  const inPath = new Map(plan.parameters.filter((plan) => plan.in === 'path').map((plan) => [plan.argument, plan]))

  return (args) => {
    const encodePath = (value: unknown, argument: string) =>
      simpleText(asSent(inPath.get(argument), value), inPath.get(argument)?.explode === true, encodeURIComponent)
    const pairs: string[] = []
    const headers: Record<string, string> = {}
    for (const parameter of plan.parameters) {
      const value = asSent(parameter, argumentOf(args, parameter.argument))
      if (value === undefined) continue
      if (parameter.in === 'query') pairs.push(...queryPairs(parameter.name, value, parameter.style, parameter.explode))
      if (parameter.in === 'header') {
        const text = simpleText(value, parameter.explode, (part) => part)
        headers[parameter.name.toLowerCase()] = checkedHeaderValue(parameter.name, text)
      }
    }
    const value = plan.body?.value(args)
    const body = plan.body === null || value === undefined ? null : plan.body.encode(value)
    const type = plan.body === null || body === null ? {} : { 'content-type': plan.body.contentType }
    return {
      method,
      url: url.fill(args, pairs, encodePath),
      headers: { ...headers, ...place.headers.fill({}), ...type },
      body,
      allowPrivate: place.allowPrivate,
    }
  }
}

/** A parameter whose content is JSON is sent as one JSON text. */
const asSent = (parameter: ParameterPlan | undefined, value: unknown): unknown =>
  parameter?.isJson === true && value !== undefined ? JSON.stringify(value) : value

/** The base URL of an operation, without a slash at the end: from the settings, else the most specific one in the document. */
function serverUrl(
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
