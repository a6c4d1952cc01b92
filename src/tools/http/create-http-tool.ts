// The `http` kind: one request, written as a template in agent.yaml.

import type { HttpToolSettings } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { boundPart, parsedOrNull, shownUrl, writtenText } from '../shown-settings.ts'
import type { ServerTool } from '../tool.ts'
import { boundTool } from '../tool-binding.ts'
import { callService, type HttpToolDeps } from './service/call-service.ts'
import { isPrivateHost, privateHostProblem } from './service/safe-address.ts'
import type { ServiceRequest } from './service/service-http.ts'
import { type BodyTemplate, parseBodyTemplate } from './template/body-template.ts'
import { parseHeaderTemplates } from './template/header-templates.ts'
import { formPairs, formText } from './template/parameter-style.ts'
import type { Arguments } from './template/template.ts'
import { parseUrlTemplate } from './template/url-template.ts'

/** Throws `config_invalid` for templates that cannot be sent with any arguments. */
export function createHttpTool(settings: HttpToolSettings, deps: HttpToolDeps): ServerTool {
  const { origin, requestFor, addressFor } = requestTemplate(settings)
  const { method, url, headers, body, allowPrivate } = settings
  return {
    location: 'server',
    // `bound` may name the URL by its variable. The host is bound by value, so that an old approval never covers another host.
    ...boundTool('http', settings, {
      method,
      origin,
      allowPrivate,
      request: settings.bound ?? { url, headers, body },
    }),
    action: addressFor === null ? undefined : (args) => `${method.toUpperCase()} ${shownUrl(addressFor(args))}`,
    call: async (call, signal) => callService(deps, settings, call, requestFor(call.arguments), signal),
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE', 'OPTIONS']

function requestTemplate(settings: HttpToolSettings): {
  origin: string
  requestFor: (args: Arguments) => ServiceRequest
  /** The address with secrets of the settings masked. Null: it cannot be shown. */
  addressFor: ((args: Arguments) => URL) | null
} {
  const refuse = (problem: string) => new ServerError('config_invalid', `Tool ${settings.name}: ${problem}`)
  const method = settings.method.toUpperCase()
  if (!METHODS.includes(method)) throw refuse(`method must be one of ${METHODS.join(', ')}.`)
  const url = parseUrlTemplate(settings.url, refuse)
  if (!settings.allowPrivate && isPrivateHost(url.base)) throw refuse(privateHostProblem(url.base))
  const headers = parseHeaderTemplates(settings.headers, refuse)
  const body = settings.body === null ? null : parseBodyTemplate(settings.body, headers.contentType, refuse)

  const declared = new Set(Object.keys(isRecord(settings.parameters.properties) ? settings.parameters.properties : {}))
  for (const [part, names] of Object.entries({ url, headers, body })) {
    for (const name of names?.arguments ?? []) if (!declared.has(name)) throw refuse(undeclared(part, name))
  }
  const placed = new Set([...url.arguments, ...headers.arguments])
  const hasRest = [...declared].some((name) => !placed.has(name))
  const inQuery = WITHOUT_BODY.includes(method)
  const restBody = body === null && !inQuery ? bodyOfRest(headers.contentType, refuse) : null

  const restOf = (args: Arguments) => (body === null ? Object.entries(args).filter(([name]) => !placed.has(name)) : [])
  const pairsOf = (args: Arguments) => (inQuery ? restOf(args).flatMap(([name, value]) => formPairs(name, value)) : [])
  const requestFor = (args: Arguments): ServiceRequest => {
    const rest = restOf(args)
    const sent = body ?? (hasRest || rest.length > 0 ? restBody : null)
    const text = sent?.fill(body === null ? Object.fromEntries(rest) : args) ?? null
    return {
      method,
      url: url.fill(args, pairsOf(args)),
      headers: { ...(text === null ? {} : { 'content-type': sent?.contentType ?? '' }), ...headers.fill(args) },
      body: text,
      allowPrivate: settings.allowPrivate,
    }
  }
  const written = writtenText(boundPart(settings.bound, 'url'))
  const shown = written === null ? url : parsedOrNull(() => parseUrlTemplate(written, refuse))
  const addressFor = shown === null ? null : (args: Arguments) => shown.fill(args, pairsOf(args))
  return { origin: url.base.origin, requestFor, addressFor }
}

const undeclared = (part: string, name: string): string =>
  `${part} uses {${name}}, but parameters has no ${name}. Add it there${part === 'url' ? '' : `, or write {{${name}}} if the braces are meant as text`}.`

/** A body of all arguments that are not in the URL or a header. */
function bodyOfRest(
  contentType: string | null,
  refuse: (problem: string) => ServerError,
): Omit<BodyTemplate, 'arguments'> {
  const type = contentType ?? 'application/json'
  if (/[/+]json\b/.test(type)) return { contentType: type, fill: (args) => JSON.stringify(args) }
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return { contentType: type, fill: formText }
  }
  throw refuse(`the Content-Type ${type} needs a body. Write a body, or send JSON.`)
}
