// The schema of a tool of type `http`: one request, or the operations of an OpenAPI file.

import { z } from 'zod'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { parameterNames } from '../source/json-schema-yaml.ts'
import { httpUrlKey, key, type Report, reporter, text } from '../source/schema-key.ts'
import {
  checkArguments,
  checkRetries,
  description,
  globs,
  headers,
  name,
  parametersKey,
  returnsKey,
  ruleKeys,
  toolType,
} from './tool-keys.ts'

const operationList = 'an operationId or a glob, or a list of them'

export const httpTool = z
  .strictObject({
    type: toolType('http'),
    name,
    description: key(
      description.optional(),
      'When and why to use the tool. The model reads this. With `openapi`, the file describes each operation.',
      'Current weather for a city.',
    ),
    method: key(
      z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']).optional(),
      'HTTP method. Default: GET.',
      'POST',
    ),
    url: key(
      text().optional(),
      'URL of the request, with `{parameter}` in place of an argument in the path or query. Arguments are percent-encoded. The host must be fixed.',
      'https://api.example.com/weather?city={city}',
    ),
    headers: headers('Headers to send with every request. Without `openapi`, they may contain `{parameter}` too.'),
    body: key(
      z.unknown().optional(),
      'Body, sent as JSON. A text that is only `{parameter}` becomes the argument itself. Default: all arguments that neither URL nor headers use; for GET, HEAD, DELETE and OPTIONS they go into the query.',
      { query: '{query}' },
    ),
    parameters: parametersKey,
    returns: returnsKey,
    openapi: key(
      text().optional(),
      'OpenAPI file, relative to this file, whose operations become tools. `name` is put before names that would clash.',
      'openapi.yaml',
    ),
    base_url: httpUrlKey(
      'With `openapi`: base URL of the operations. Default: the first server in the file.',
      'https://api.example.com/v1',
    ),
    allow: globs('With `openapi`: operations to offer to the model. Default: all.', 'get*', operationList),
    deny: globs('With `openapi`: operations not to offer, even if `allow` names them.', 'delete*', operationList),
    allow_private: key(z.boolean().default(false), 'Allow addresses of this machine and of private networks.', true),
    ...ruleKeys,
  })
  .superRefine((tool, context) => {
    const report = reporter(context)
    checkRetries(tool, 'once', report)
    if (tool.openapi === undefined) checkRequest(tool, report)
    else {
      for (const one of ['method', 'url', 'body', 'description', 'parameters', 'returns', 'predict_state'] as const) {
        if (tool[one] !== undefined) report(one, `the OpenAPI file sets ${one} for each operation. Remove this key.`)
      }
    }
  })

type HttpTool = z.infer<typeof httpTool>

function checkRequest(tool: HttpTool, report: Report): void {
  const known = parameterNames(tool.parameters ?? { properties: {} })
  if (tool.url === undefined) {
    const advice = 'Write e.g. url: https://api.example.com/weather?city={city}, or openapi: openapi.yaml'
    report('url', `this key is missing; an http tool needs a url or an OpenAPI file. ${advice}`)
  } else {
    const problem = urlProblem(tool.url) ?? placeholderProblem(tool.url, known)
    if (problem !== null) report('url', problem)
  }
  if (tool.description === undefined) {
    const advice = 'Write e.g. description: Current weather for a city.'
    report('description', `this key is missing; expected text of at least 10 characters. ${advice}`)
  }
  const method = tool.method ?? 'GET'
  if (tool.body !== undefined && (method === 'GET' || method === 'HEAD')) {
    report('body', `a ${method} request has no body. Remove it, or write method: POST`)
  }
  for (const { path, text } of [...textsIn(tool.headers, ['headers']), ...textsIn(tool.body, ['body'])]) {
    const problem = placeholderProblem(text, known)
    if (problem !== null) report(path, problem)
  }
  for (const one of ['base_url', 'allow', 'deny'] as const) {
    if (tool[one] !== undefined)
      report(one, `${one} only works with openapi, and this tool has a url. Remove this key.`)
  }
  checkArguments({ ...tool, parameters: tool.parameters ?? { properties: {} } }, report)
}

/** The messages do not repeat the url, because it may contain a secret. */
function urlProblem(url: string): string | null {
  const example = 'Write e.g. url: https://api.example.com/weather?city={city}'
  const [, scheme, host = '', rest = ''] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(url) ?? []
  if (scheme === undefined) return `expected a url that starts with http:// or https://. ${example}`
  if (host.includes('{'))
    return `the host must not contain a parameter, because the model could then choose any host. ${example}`
  if (host.includes('@')) return 'a url must not contain a user name or password. Write headers: { Authorization: … }'
  if (/[\\\s#]/.test(url)) return 'the url contains a space, a backslash or a #. Write %20, %5C or %23 instead'
  if (/[{}]/.test(rest.replaceAll(PLACEHOLDER, (whole) => (whole.startsWith('{{') ? whole : '')))) {
    return 'the url contains a { or } that is not part of a {parameter}. Write %7B and %7D for the characters themselves'
  }
  return URL.parse(`${scheme}://${host}/`) === null ? `this is not a valid http or https url. ${example}` : null
}

/** The same syntax that the tool uses: `{{name}}` is the literal text `{name}`. */
const PLACEHOLDER = /\{(\{)?([A-Za-z_][\w.-]*)\}(\})?/g

/** `known` is null if the schema does not list the parameters. */
function placeholderProblem(text: string, known: readonly string[] | null): string | null {
  if (known === null) return null
  for (const [, before, name = '', after] of text.matchAll(PLACEHOLDER)) {
    if ((before !== undefined && after !== undefined) || known.includes(name)) continue
    const near = didYouMean(name, known)
    return near === null
      ? `{${name}} is not a parameter. Write e.g. parameters: { ${name}: { type: string } }`
      : `{${name}} is not a parameter. Did you mean {${near}}?`
  }
  return null
}

function textsIn(value: unknown, path: readonly PropertyKey[]): { path: readonly PropertyKey[]; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }]
  if (Array.isArray(value)) return value.flatMap((one, index) => textsIn(one, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => textsIn(one, [...path, key]))
}
