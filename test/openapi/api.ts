// Reads the OpenAPI document for the tests.

import { z } from 'zod'

const Json = z.record(z.string(), z.unknown())
export type Json = z.infer<typeof Json>

const ParameterSchema = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  schema: Json,
})
const MediaSchema = z.looseObject({
  schema: Json.optional(),
  examples: Json.optional(),
  example: z.unknown().optional(),
})
const ResponseSchema = z.looseObject({ description: z.string(), content: z.record(z.string(), MediaSchema).optional() })
const OperationSchema = z.looseObject({
  operationId: z.string(),
  parameters: z.array(Json),
  requestBody: z.looseObject({ required: z.boolean(), content: z.record(z.string(), MediaSchema) }).optional(),
  responses: z.record(z.string(), Json),
})
const DocumentSchema = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), OperationSchema)) })

export type Parameter = z.infer<typeof ParameterSchema>
export type Media = z.infer<typeof MediaSchema>
export type Resolve = (value: Json) => Json

export interface Operation {
  id: string
  method: string
  /** `/runs/{id}` */
  path: string
  parameters: Parameter[]
  body: { required: boolean; schema: Json; examples: unknown[] } | null
  /** By status. */
  responses: ReadonlyMap<number, z.infer<typeof ResponseSchema>>
}

export interface Api {
  operations: Operation[]
  resolve: Resolve
}

/** Throws when the document does not have the structure of ours. */
export function readApi(document: unknown): Api {
  const parsed = DocumentSchema.parse(document)
  const resolve: Resolve = (value) => {
    if (typeof value.$ref !== 'string') return value
    const keys = value.$ref.slice(2).split('/')
    return resolve(Json.parse(keys.reduce<unknown>((part, key) => Json.parse(part)[key], document)))
  }
  const operations = Object.entries(parsed.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters, requestBody, responses }]): Operation => {
      const body = requestBody?.content['application/json']
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        parameters: parameters.map((parameter) => ParameterSchema.parse(resolve(parameter))),
        body:
          body?.schema === undefined
            ? null
            : {
                required: requestBody?.required === true,
                schema: body.schema,
                examples: Object.values(body.examples ?? {}).map((example) => Json.parse(example).value),
              },
        responses: new Map(
          Object.entries(responses).map(([status, response]) => [
            Number(status),
            ResponseSchema.parse(resolve(response)),
          ]),
        ),
      }
    }),
  )
  return { operations, resolve }
}

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
