// The form of an operation: its parameters and body, what curl would send, and the answer.

import { createAnswerView } from './answer-view.js'
import { copyButton, make, prose } from './make.js'
import { kindOf, notesOf } from './read-schema.js'
import { curlOf, requestOf } from './request.js'
import { schemaTree } from './schema-tree.js'

/** `base` is the server's address. `token` returns the one that the page uses now. */
export function tryForm(operation, { resolve, base, token }) {
  const { id, parameters, body, answers } = operation
  const fields = parameters.map((parameter) => parameterRow(id, parameter, resolve))
  const main = fields.filter(({ isRare }) => !isRare)
  const rare = fields.filter(({ isRare }) => isRare)
  const bodyField = body === null ? null : bodyFields(id, body, resolve)
  const accepts = acceptsOf(answers)
  const accept = make('select', { id: `${id}-accept` }, ...accepts.map((type) => make('option', { text: type })))
  const curl = make('pre', { tabindex: '0', 'aria-label': 'The same with curl' })
  const answer = createAnswerView()
  const request = () =>
    requestOf(operation, {
      values: new Map(fields.map(({ key, input }) => [key, input.value])),
      accept: accepts.length > 1 ? accept.value : '',
      token: token(),
      ...(bodyField?.value() ?? {}),
    })
  const showCurl = () => {
    curl.textContent = curlOf(request(), base)
  }
  const form = make(
    'form',
    { on: { input: showCurl, change: showCurl, focusin: showCurl } },
    ...(main.length === 0 ? [] : [make('h3', { text: 'Parameters' }), ...main.map(({ row }) => row)]),
    ...(bodyField?.rows ?? []),
    accepts.length > 1 ? labelled('Accept', accept) : null,
    rare.length === 0
      ? null
      : make('details', {}, make('summary', { text: 'Optional headers' }), ...rare.map(({ row }) => row)),
    make('div', { class: 'row' }, make('button', { class: 'primary', text: 'Send' })),
    make(
      'details',
      {},
      make('summary', { text: 'curl' }),
      make(
        'div',
        { class: 'copied' },
        curl,
        copyButton(() => curl.textContent, 'Copy the curl command'),
      ),
    ),
    answer.element,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const { method, url, headers, body: sent } = request()
    answer.show((signal) =>
      fetch(new URL(url, base), {
        method,
        headers,
        body: Array.isArray(sent) ? formData(sent) : sent,
        signal,
        cache: 'no-store',
      }),
    )
  })
  showCurl()
  return form
}

/** The media types of the successful answers, which the client may choose from. */
const acceptsOf = (answers) => [
  ...new Set(
    answers
      .filter(({ status }) => status.startsWith('2'))
      .flatMap(({ contents }) => contents.map(({ type }) => type.split(';', 1)[0])),
  ),
]

function formData(entries) {
  const data = new FormData()
  for (const [name, value] of entries) data.append(name, value)
  return data
}

const labelled = (text, input) => make('div', { class: 'field' }, make('label', { for: input.id, text }), input)

function parameterRow(id, { in: place, name, required = false, description = '', schema = {} }, resolve) {
  const rules = resolve(schema) ?? {}
  const key = `${place} ${name}`
  const attributes = { id: `${id}-${place}-${name}`, required: required && name !== 'path' }
  const choices = rules.enum ?? (rules.type === 'boolean' ? ['true', 'false'] : null)
  const input =
    choices === null
      ? make('input', {
          ...attributes,
          autocomplete: 'off',
          spellcheck: 'false',
          inputmode: /integer|number/.test(String(rules.type)) ? 'numeric' : null,
        })
      : make('select', attributes, ...['', ...choices].map((choice) => make('option', { text: choice })))
  const notes = [kindOf(resolve, schema), ...notesOf(rules)].join(', ')
  const row = make(
    'div',
    { class: 'field' },
    make(
      'label',
      { for: attributes.id },
      make('code', { text: name }),
      make('span', { class: 'quiet', text: ` ${place}` }),
      required ? make('span', { class: 'required', text: ' required' }) : null,
    ),
    input,
    make(
      'p',
      { class: 'hint' },
      ...prose(description),
      make('span', { class: 'quiet', text: `${description === '' ? '' : ' '}${choices === null ? notes : ''}` }),
    ),
  )
  return { key, input, row, isRare: place === 'header' && !required }
}

/** A body can be JSON or a form. The choice between them is shown only where there is one. */
function bodyFields(id, { isRequired, contents }, resolve) {
  const kinds = contents.map((content) => ({
    ...content,
    ...(content.type === 'multipart/form-data' ? filesOf(id, content, resolve) : jsonOf(id, content, isRequired)),
  }))
  const choice = make('select', { id: `${id}-type` }, ...kinds.map(({ type }) => make('option', { text: type })))
  const current = () => kinds[Math.max(choice.selectedIndex, 0)]
  const place = make('div', { class: 'body' })
  const show = () => {
    const { rows, schema } = current()
    const tree = make('details', { class: 'schema' }, make('summary', { text: 'Schema' }), schemaTree(resolve, schema))
    // Beside the text there is space for it.
    tree.open = matchMedia('(min-width: 75rem)').matches
    place.replaceChildren(make('div', {}, ...rows), tree)
  }
  choice.addEventListener('change', show)
  show()
  return {
    rows: [make('h3', { text: 'Body' }), ...(kinds.length > 1 ? [labelled('Type', choice)] : []), place],
    value: () => ({ type: current().type, body: current().value() }),
  }
}

function jsonOf(id, { examples }, isRequired) {
  const textOf = ({ value } = { value: {} }) => JSON.stringify(value, null, 2)
  const text = make('textarea', {
    id: `${id}-body`,
    rows: '8',
    spellcheck: 'false',
    autocomplete: 'off',
    required: isRequired,
  })
  const set = (example) => {
    text.value = textOf(example)
    text.rows = Math.min(20, Math.max(4, text.value.split('\n').length + 1))
  }
  set(examples[0])
  const choice = make('select', { id: `${id}-example` }, ...examples.map(({ name }) => make('option', { text: name })))
  choice.addEventListener('change', () => set(examples[choice.selectedIndex]))
  return {
    rows: [
      ...(examples.length > 1 ? [labelled('Example', choice)] : []),
      make('div', { class: 'field wide' }, make('label', { for: text.id, text: 'JSON' }), text),
    ],
    value: () => text.value.trim(),
  }
}

function filesOf(id, { schema }, resolve) {
  const { properties = {}, required = [] } = resolve(schema)
  const inputs = Object.entries(properties).map(([name, given]) => {
    const { type, format, items } = resolve(given)
    const isFile = format === 'binary' || resolve(items)?.format === 'binary'
    const needed = required.includes(name)
    const input = make('input', {
      id: `${id}-part-${name}`,
      type: isFile ? 'file' : 'text',
      multiple: isFile && type === 'array',
      required: needed,
    })
    return { name, input }
  })
  return {
    rows: inputs.map(({ name, input }) => labelled(name, input)),
    value: () =>
      inputs.flatMap(({ name, input }) =>
        (input.type === 'file' ? [...input.files] : [input.value])
          .filter((one) => one !== '')
          .map((one) => [name, one]),
      ),
  }
}
