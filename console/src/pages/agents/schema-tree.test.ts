import { expect, test } from 'vitest'
import { type SchemaNode, schemaTree } from './schema-tree.ts'

const node = (name: string, change: Partial<SchemaNode> = {}): SchemaNode => ({
  ...{ name, type: 'text', isRequired: false, description: '', notes: [], children: [] },
  ...change,
})

test('parameters have their types, limits and choices in words', () => {
  const tree = schemaTree({
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Where?', minLength: 1 },
      days: { type: 'integer', minimum: 1, maximum: 7, default: 3 },
      unit: { enum: ['c', 'f'] },
      tags: { type: 'array', items: { type: 'string' } },
      note: { type: ['string', 'null'] },
    },
    required: ['city'],
  })
  expect(tree).toEqual([
    node('city', { isRequired: true, description: 'Where?', notes: ['at least 1 characters'] }),
    node('days', { type: 'whole number', notes: ['at least 1', 'at most 7', '3 if left out'] }),
    node('unit', { type: 'choice', notes: ['one of "c", "f"'] }),
    node('tags', { type: 'list of text' }),
    node('note', { type: 'text or nothing' }),
  ])
})

test('objects in lists and alternatives unfold', () => {
  const item = { type: 'object', properties: { id: { type: 'string' } } }
  expect(
    schemaTree({ properties: { all: { type: 'array', items: item }, one: { anyOf: [item, { type: 'null' }] } } }),
  ).toEqual([
    node('all', {
      type: 'list of object',
      children: [node('(each item)', { type: 'object', children: [node('id')] })],
    }),
    node('one', {
      type: 'object or nothing',
      children: [node('(one of)', { type: 'object', children: [node('id')] })],
    }),
  ])
})

test('references are followed, and one that leads to itself ends', () => {
  const tree = schemaTree({
    $defs: { tree: { type: 'object', properties: { next: { $ref: '#/$defs/tree' } } }, loop: { $ref: '#/$defs/loop' } },
    properties: { tree: { $ref: '#/$defs/tree' }, loop: { $ref: '#/$defs/loop' }, far: { $ref: 'http://x/y' } },
  })
  expect(tree.map(({ name, type }) => [name, type])).toEqual([
    ['tree', 'object'],
    ['loop', 'anything'],
    ['far', 'http://x/y'],
  ])
  let depth = 0
  for (let at = tree[0]; at !== undefined; at = at.children[0]) depth += 1
  expect(depth).toBe(8)
})

test('a schema of any size, or none at all, does no harm', () => {
  const properties = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }]))
  expect(schemaTree({ properties })).toHaveLength(400)
  expect(schemaTree(null)).toEqual([])
  expect(schemaTree({ properties: { a: 3, b: null } }).map(({ type }) => type)).toEqual(['anything', 'anything'])
})
