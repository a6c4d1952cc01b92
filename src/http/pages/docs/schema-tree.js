// A schema as a tree to read: each key with its type, limits and meaning. Deeper levels are made when they are opened.

import { lazyDetails, make, prose } from './make.js'
import { kindOf, notesOf, partsOf } from './read-schema.js'

export function schemaTree(resolve, schema) {
  const parts = partsOf(resolve, schema)
  if (parts.length === 0) return make('p', { class: 'kind', text: kindOf(resolve, schema) })
  return make('div', {}, make('p', { class: 'kind', text: headOf(resolve, schema, parts) }), listOf(resolve, parts, 1))
}

/** Says what the tree below it is. */
function headOf(resolve, schema, parts) {
  const { type, contentSchema } = resolve(schema) ?? {}
  const what = contentSchema === undefined ? kindOf(resolve, schema) : 'one data: of the stream'
  const isChoice = parts.every(({ isVariant }) => isVariant)
  return isChoice ? `${type === 'array' ? 'list of ' : ''}one of these` : what
}

const listOf = (resolve, parts, level) =>
  make('ul', { class: 'tree' }, ...parts.map((part) => make('li', {}, nodeOf(resolve, part, level))))

function nodeOf(resolve, { name, isRequired, isVariant, schema }, level) {
  const { description = '', ...rules } = resolve(schema) ?? {}
  const notes = notesOf(rules).join(', ')
  const line = [
    make('code', { class: 'key', text: name }),
    ' ',
    make('span', { class: 'kind', text: isVariant ? '' : kindOf(resolve, schema) }),
    isRequired ? make('span', { class: 'required', text: ' required' }) : null,
    notes === '' ? null : make('span', { class: 'quiet', text: `  ${notes}` }),
  ].filter((part) => part !== null)
  const meaning = description === '' ? [] : [make('div', { class: 'meaning' }, ...prose(description))]
  const parts = partsOf(resolve, schema)
  if (parts.length === 0) return make('div', {}, ...line, ...meaning)
  return lazyDetails([...line, ...meaning], () => [listOf(resolve, parts, level + 1)], {
    class: 'node',
    // A choice has many variants, and one of them is enough to read at a time.
    open: level < 2 && !isVariant && parts.length < 8,
  })
}
