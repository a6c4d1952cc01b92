// One operation of an OpenAPI document, with what is needed to call it.

import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { isHeaderName, isReservedHeader } from '../template/header-templates.ts'
import { type QueryStyle, queryStyles } from '../template/parameter-style.ts'
import { type BodyPlan, planBody } from './body-plan.ts'
import type { OpenApiDocument } from './document.ts'
import { sentSchema } from './sent-schema.ts'
import { argumentName, uniqueName } from './tool-name.ts'

export interface Operation {
  /** The `operationId` of the document. Null when there is none. */
  id: string | null
  method: string
  path: string
  /** The operation as the document has it. Parts of it may be references. */
  source: Readonly<Record<string, unknown>>
  /** The path that the operation belongs to. The operation's own values override its values. */
  pathItem: Readonly<Record<string, unknown>>
}

export interface OperationPlan {
  /** Has `{argument}` for every path parameter. */
  path: string
  parameters: ParameterPlan[]
  body: BodyPlan | null
  /** The schema of all arguments together. */
  schema: JsonSchema
}

export type ParameterPlan = { argument: string; name: string; explode: boolean; isJson: boolean } & (
  | { in: 'path' | 'header' }
  | { in: 'query'; style: QueryStyle }
)

// TRACE is missing on purpose: it sends back the request with its credentials.
const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']

export function operationsOf(document: OpenApiDocument): Operation[] {
  const paths = isRecord(document.root.paths) ? document.root.paths : {}
  return Object.entries(paths).flatMap(([path, value]) => {
    const pathItem = path.startsWith('/') ? document.resolve(value) : null
    if (!isRecord(pathItem)) return []
    return METHODS.flatMap((method) => {
      const source = pathItem[method]
      if (!isRecord(source)) return []
      const id = typeof source.operationId === 'string' && source.operationId !== '' ? source.operationId : null
      return [{ id, method: method.toUpperCase(), path, source, pathItem }]
    })
  })
}

/**
 * Returns how to call the operation, or a sentence that says why it cannot be called. The settings already have the headers in
 * `given`, so the model is not asked for them.
 */
export function planOperation(
  document: OpenApiDocument,
  operation: Operation,
  given: ReadonlySet<string>,
): OperationPlan | string {
  const taken = new Set<string>()
  const properties: [string, unknown][] = []
  const required: string[] = []
  const parameters: ParameterPlan[] = []
  for (const parameter of parametersOf(document, operation)) {
    const plan = planParameter(parameter, given)
    if (plan === null) continue
    if (typeof plan === 'string') return plan
    const argument = uniqueName(argumentName(parameter.name), taken)
    parameters.push({ ...plan, argument })
    properties.push([argument, parameterSchema(document, parameter)])
    if (parameter.isRequired) required.push(argument)
  }

  const body = planBody(document, operation.source.requestBody, taken)
  if (typeof body === 'string') return body
  if (body !== null) {
    properties.push(...Object.entries(body.properties))
    required.push(...body.required)
  }
  const path = operation.path.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
    const found = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)
    return found === undefined ? whole : `{${found.argument}}`
  })
  const schema = { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false }
  return { path, parameters, body: body?.plan ?? null, schema }
}

interface Parameter {
  name: string
  in: string
  isRequired: boolean
  source: Readonly<Record<string, unknown>>
}

/** The parameters of the path, overridden by the operation's own, and those that only appear in the path's text. */
function parametersOf(document: OpenApiDocument, operation: Operation): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const list of [operation.pathItem.parameters, operation.source.parameters]) {
    for (const value of Array.isArray(list) ? list : []) {
      const source = document.resolve(value)
      if (!isRecord(source) || typeof source.name !== 'string' || typeof source.in !== 'string') continue
      const isRequired = source.required === true || source.in === 'path'
      found.set(`${source.in} ${source.name}`, { name: source.name, in: source.in, isRequired, source })
    }
  }
  const inPath = new Set([...operation.path.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name))
  for (const name of inPath) {
    if (!found.has(`path ${name}`)) {
      const source = { schema: { type: 'string' } }
      found.set(`path ${name}`, { name, in: 'path', isRequired: true, source })
    }
  }
  return [...found.values()].filter((parameter) => parameter.in !== 'path' || inPath.has(parameter.name))
}

/** Null for a parameter that is not an argument. A sentence when the operation cannot be called because of it. */
function planParameter(parameter: Parameter, given: ReadonlySet<string>): ParameterPlan | string | null {
  const { name, source } = parameter
  const style = source.style ?? (parameter.in === 'query' ? 'form' : 'simple')
  const explode = typeof source.explode === 'boolean' ? source.explode : style === 'form' || style === 'deepObject'
  const common = { argument: '', name, explode, isJson: isRecord(source.content) }
  const unsupported = `the parameter ${name} (${parameter.in}, style ${String(style)}) cannot be sent`
  const refusal = parameter.isRequired ? unsupported : null
  switch (parameter.in) {
    case 'path':
      return style === 'simple' ? { ...common, in: 'path' } : refusal
    case 'query': {
      const known = queryStyles.find((candidate) => candidate === style)
      return known === undefined ? refusal : { ...common, in: 'query', style: known }
    }
    case 'header': {
      // OpenAPI describes the first three elsewhere and says to ignore them here.
      const isOurs = ['accept', 'content-type', 'authorization'].includes(name.toLowerCase()) || isReservedHeader(name)
      if (isOurs || given.has(name.toLowerCase())) return null
      return isHeaderName(name) && style === 'simple' ? { ...common, in: 'header' } : refusal
    }
    case 'cookie':
      return given.has('cookie') ? null : refusal
    default:
      return refusal
  }
}

function parameterSchema(document: OpenApiDocument, { source }: Parameter): JsonSchema {
  const content = isRecord(source.content) ? Object.values(source.content)[0] : source
  const schema = sentSchema(document, isRecord(content) ? content.schema : {})
  const description = typeof source.description === 'string' ? source.description.trim() : ''
  return description === '' ? schema : { ...schema, description }
}
