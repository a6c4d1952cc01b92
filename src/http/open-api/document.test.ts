import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Route, RouteDescription } from '../route.ts'
import { openApiDocument } from './document.ts'

const NoteSchema = z.strictObject({ text: z.string(), tags: z.array(z.string()).default([]) }).meta({ id: 'Note' })

const described = (): RouteDescription => ({
  tag: 'Notes',
  responses: { 204: { description: 'Done.' } },
  errors: [],
})

const route = (over: Partial<Route> = {}): Route => ({
  body: 'none',
  method: 'GET',
  path: '/notes',
  door: null,
  role: 'user',
  summary: 'Notes',
  describe: described,
  handle: async () => {},
  ...over,
})

const documentOf = (...routes: Route[]) =>
  openApiDocument(routes, { title: 'Test', version: '1', basePath: '', errors: {} })
const operationAt = (path: string, method: string, ...routes: Route[]) => documentOf(...routes).paths[path]?.[method]
const statuses = (operation: unknown) =>
  z
    .looseObject({ responses: z.record(z.string(), z.unknown()) })
    .transform(({ responses }) => Object.keys(responses).map(Number))
    .parse(operation)

describe('the document', () => {
  test('takes parameters from the path, with descriptions if there are any', () => {
    const params = { id: z.string().describe('The note.') }
    const operation = operationAt(
      '/notes/{id}/lines/{line}',
      'get',
      route({ path: '/notes/:id/lines/:line', describe: () => ({ ...described(), params }) }),
    )

    expect(operation).toMatchObject({
      operationId: 'getNotesIdLinesLine',
      parameters: [
        { name: 'id', in: 'path', required: true, description: 'The note.', schema: { type: 'string' } },
        { name: 'line', in: 'path', required: true, schema: { type: 'string' } },
        { $ref: '#/components/parameters/CorrelationId' },
      ],
    })
  })

  test('stores a schema with an id once, or twice if input and output differ', () => {
    const body = { schema: NoteSchema, examples: { short: { text: 'Hi' } } }
    const responses = { 200: { description: 'It.', content: { 'application/json': { schema: NoteSchema } } } }
    const { paths, components } = documentOf(
      route({ method: 'POST', describe: () => ({ ...described(), body, responses }) }),
      route({ path: '/other', describe: () => ({ ...described(), responses }) }),
    )

    expect(Object.keys(components.schemas)).toEqual(['Note', 'Note2', 'Problem'])
    expect([components.schemas.Note?.required, components.schemas.Note2?.required]).toEqual([
      ['text'],
      ['text', 'tags'],
    ])
    const answer = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note2' } } } }
    expect(paths['/notes']?.post).toMatchObject({
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Note' },
            examples: { short: { summary: 'short', value: { text: 'Hi' } } },
          },
        },
      },
      responses: { 200: answer },
    })
    expect(paths['/other']?.get).toMatchObject({ responses: { 200: answer } })
  })

  test('describes a stream by the data of its events', () => {
    const events = { said: z.strictObject({ text: z.string() }) }
    const content = { 'text/event-stream': { schema: events.said, events, example: { text: 'Hi' } } }
    const operation = operationAt(
      '/notes',
      'get',
      route({ describe: () => ({ ...described(), responses: { 200: { description: 'All.', content } } }) }),
    )

    const said = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
    expect(operation).toMatchObject({
      responses: {
        200: {
          content: {
            'text/event-stream': {
              schema: { type: 'string', contentSchema: { anyOf: [said] }, 'x-events': { said } },
              example: 'data: {"text":"Hi"}\n\n',
            },
          },
        },
      },
    })
  })

  test('refuses a route without a description', () => {
    const { describe: _, ...bare } = route()

    expect(() => documentOf(bare)).toThrow('GET /notes has no description')
  })
})

describe('the failures', () => {
  test('are those that all such routes share, and those of the route itself', () => {
    const body = { schema: NoteSchema, examples: {} }
    const describe = () => ({ ...described(), body, errors: ['run_in_progress' as const] })
    const post = route({ method: 'POST', door: 'rest', body: 'message', describe })

    expect(statuses(operationAt('/notes', 'get', route()))).toEqual([204, 401, 403, 421, 431, 500, 503])
    expect(statuses(operationAt('/notes', 'get', route({ role: 'public', anytime: true })))).toEqual([
      204, 403, 421, 431, 500,
    ])
    expect(statuses(operationAt('/notes', 'post', post))).toEqual([
      204, 400, 401, 403, 404, 408, 409, 413, 415, 421, 429, 431, 500, 503,
    ])
  })

  test('have the statuses and formats of their family', () => {
    const describe = () => ({ ...described(), errors: ['invalid_request'] as const })
    const document = openApiDocument([route({ describe })], {
      title: 'Test',
      version: '1',
      basePath: '',
      errors: {
        Notes: [
          {
            shape: ({ status, code }) => ({
              status: status === 400 ? 422 : status,
              contentType: 'application/json',
              body: { error: code },
            }),
            schema: z.strictObject({ error: z.string() }),
          },
        ],
      },
    })

    expect(statuses(document.paths['/notes']?.get)).toEqual([204, 401, 403, 421, 422, 431, 500, 503])
    expect(document.components).toMatchObject({
      responses: {
        Error422: {
          description: 'Invalid request.',
          content: {
            'application/json': {
              schema: { type: 'object', properties: { error: { type: 'string' } }, required: ['error'] },
              examples: { invalid_request: { $ref: '#/components/examples/invalid_request' } },
            },
          },
        },
      },
      examples: { invalid_request: { summary: 'Invalid request', value: { error: 'invalid_request' } } },
    })
  })
})
