import { describe, expect, test } from 'vitest'
import { fitsSearch, readApi } from './read-api.js'
import { kindOf, notesOf, partsOf, sampleOf } from './read-schema.js'

const document = {
  info: { title: 'Test', version: '1' },
  tags: [{ name: 'Notes and more' }, { name: 'Empty' }],
  paths: {
    '/notes/{id}': {
      post: {
        operationId: 'postNotesId',
        tags: ['Notes and more'],
        summary: 'Say it',
        'x-role': 'operator',
        'x-door': 'rest',
        parameters: [{ $ref: '#/components/parameters/Id' }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Note' },
              examples: { short: { summary: 'a short one', value: { text: 'Hi' } } },
            },
          },
        },
        responses: { 200: { description: 'It.', content: { 'application/json': { schema: {}, example: 1 } } } },
      },
      get: { operationId: 'getNotesId', responses: { 404: { $ref: '#/components/responses/Gone' } } },
    },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } } },
    responses: { Gone: { description: 'Gone.' } },
    schemas: {
      Note: {
        type: 'object',
        properties: {
          text: { type: 'string', minLength: 1, description: 'What to say.' },
          replies: { type: 'array', items: { $ref: '#/components/schemas/Note' } },
        },
        required: ['text'],
      },
    },
  },
}

test('operations are grouped by their tag, with references followed', () => {
  const { groups } = readApi(document)

  expect(groups.map(({ name, slug, operations }) => [name, slug, operations.map(({ link }) => link)])).toEqual([
    ['Notes and more', 'notes-and-more', ['notes-and-more/postNotesId']],
    ['Other', 'other', ['other/getNotesId']],
  ])
  expect(groups[0]?.operations[0]).toMatchObject({
    method: 'POST',
    path: '/notes/{id}',
    role: 'operator',
    door: 'rest',
    parameters: [{ name: 'id', in: 'path' }],
    body: { isRequired: true, contents: [{ examples: [{ name: 'a short one', value: { text: 'Hi' } }] }] },
    answers: [{ status: '200', contents: [{ examples: [{ name: 'Example', value: 1 }] }] }],
  })
  expect(groups[1]?.operations[0]).toMatchObject({ body: null, answers: [{ description: 'Gone.', contents: [] }] })
})

test('a search finds every word, in any order', () => {
  const [operation] = readApi(document).groups[0]?.operations ?? []

  expect(
    ['', 'note', 'SAY post', 'operator rest', ' say  /notes/{id} '].filter((text) => !fitsSearch(operation, text)),
  ).toEqual([])
  expect(fitsSearch(operation, 'say nothing')).toBe(false)
})

describe('a schema', () => {
  const { resolve } = readApi(document)
  const note = { $ref: '#/components/schemas/Note' }

  test.each([
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ const: 'a' }, '"a"'],
    [{ enum: ['a', 2] }, '"a" | 2'],
    [note, 'Note'],
    [{ type: 'array', items: note }, 'list of Note'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string | null'],
    [{ type: 'array', prefixItems: [{ type: 'integer' }, note] }, '[integer, Note]'],
    [{ anyOf: Array.from({ length: 9 }, (_, i) => ({ const: i })) }, 'one of 9'],
    [{ type: 'string', format: 'binary' }, 'file'],
    [{}, 'any'],
    [undefined, 'any'],
  ])('%j is %s in words', (schema, words) => {
    expect(kindOf(resolve, schema)).toBe(words)
  })

  test('has its limits in words', () => {
    expect(notesOf({ minLength: 1, maxLength: 9 })).toEqual(['1 to 9 characters'])
    expect(notesOf({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 20 })).toEqual([
      'at least 1',
      'default 20',
    ])
  })

  test('that contains itself can be opened level by level', () => {
    const names = (schema: unknown) => partsOf(resolve, schema).map(({ name }: { name: string }) => name)
    expect(names(note)).toEqual(['text', 'replies'])
    expect(names(partsOf(resolve, note)[1]?.schema)).toEqual(['text', 'replies'])
    expect(sampleOf(resolve, note)).toMatchObject({ text: 'text', replies: [{ text: 'text' }] })
  })

  test('with variants names each by what tells it apart', () => {
    const variant = (type: string) => ({ type: 'object', properties: { type: { const: type }, x: {} } })
    const keyed = { type: 'object', properties: { file_id: { type: 'string' } }, required: ['file_id'] }

    expect(partsOf(resolve, { anyOf: [variant('a'), variant('b'), note, keyed, { type: 'null' }] })).toMatchObject([
      { name: 'type: "a"', isVariant: true },
      { name: 'type: "b"', isVariant: true },
      { name: 'Note', isVariant: true },
      { name: '{ file_id }', isVariant: true },
    ])
  })

  test('of several parts is read as one', () => {
    const both = { allOf: [note, { properties: { text: { enum: ['Hi'] } } }] }

    expect(partsOf(resolve, both)).toMatchObject([{ name: 'text', isRequired: true }, { name: 'replies' }])
    expect(sampleOf(resolve, both)).toMatchObject({ text: 'Hi' })
  })
})
