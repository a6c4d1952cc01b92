// Makes an OpenAPI 3.1 document from the route table. Pure: the same routes give the same document.

import type { Route } from '../route.ts'
import { createComponentSchemas } from './component-schemas.ts'
import { type DescribedErrors, errorResponses, sharedErrors } from './error-responses.ts'
import { type Operation, operationOf, templateOf } from './operation.ts'

export interface DocumentOptions {
  title: string
  version: string
  /** Comes before every path. */
  basePath: string
  /**
   * Route families that have their own error format or statuses, keyed by the tag of their routes. A family has several entries if its
   * failures come in several formats.
   */
  errors: Readonly<Record<string, readonly DescribedErrors[]>>
}

/** Throws when a route has no description. */
export function openApiDocument(routes: readonly Route[], options: DocumentOptions) {
  const { title, version } = options
  const components = createComponentSchemas()
  const examples: Record<string, unknown> = {}
  const shared = createSharedResponses()
  const tags = new Set<string>()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const { method, path } = route
    const describe = route.describe?.()
    if (describe === undefined) throw new Error(`${method} ${path} has no description`)
    tags.add(describe.tag)
    const operation = operationOf(route, describe, components)
    const codes = [...describe.errors, ...sharedErrors(route, describe)]
    const failures = errorResponses(codes, options.errors[describe.tag] ?? [], components, examples)
    const template = templateOf(path)
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: { ...operation, responses: withFailures(operation.responses, failures, shared) },
    }
  }
  return {
    openapi: '3.1.1',
    info: { title, version, license },
    servers: [{ url: options.basePath || '/', description: 'The server that sent this document.' }],
    security: [{ token: [] }, {}],
    tags: [...tags].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: shared.components,
      examples,
      parameters: { CorrelationId: correlationParameter },
      headers: { CorrelationId: correlationHeader },
      securitySchemes: { token: tokenScheme },
    },
  }
}

const license = { name: 'MIT', identifier: 'MIT' }

const correlationParameter = {
  name: 'X-Correlation-ID',
  in: 'header',
  required: false,
  description:
    'Your own id for this request. The answer and the server log repeat it. The server replaces an id with unusual characters.',
  schema: { type: 'string' },
}

const correlationHeader = {
  description: 'The id of this request in the server log.',
  schema: { type: 'string' },
}

const tokenScheme = {
  type: 'http',
  scheme: 'bearer',
  description: 'A token of this server. A server on loopback needs none, unless it is configured to.',
}

function createSharedResponses() {
  const components: Record<string, unknown> = {}
  const nameOfText = new Map<string, string>()
  return {
    components,
    /** Returns a reference to the response. Equal responses are stored once. */
    refer(status: string, response: unknown): { $ref: string } {
      const text = `${status} ${JSON.stringify(response)}`
      let name = nameOfText.get(text)
      if (name === undefined) {
        name = `Error${status}`
        for (let n = 2; components[name] !== undefined; n += 1) name = `Error${status}_${n}`
        nameOfText.set(text, name)
        components[name] = response
      }
      return { $ref: `#/components/responses/${name}` }
    },
  }
}

/** If a status is in both, the response describes both. */
function withFailures(
  described: Operation['responses'],
  failures: ReturnType<typeof errorResponses>,
  shared: ReturnType<typeof createSharedResponses>,
): Record<string, unknown> {
  const responses: Record<string, unknown> = { ...described }
  for (const [status, failure] of Object.entries(failures)) {
    const own = described[status]
    responses[status] =
      own === undefined
        ? shared.refer(status, failure)
        : {
            ...own,
            description: `${own.description} ${failure.description}`,
            content: { ...failure.content, ...own.content },
          }
  }
  return responses
}
