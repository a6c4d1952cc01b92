// The page of GET /docs. It reads the document of its own server. Everything it shows is set as text.

const element = (id) => document.getElementById(id)
/** Only for this tab. */
const kept = sessionStorage

function make(name, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const authorization = () => (kept.token ? { authorization: `Bearer ${kept.token}` } : {})

/** Follows a reference. Returns any other value unchanged. */
function resolve(api, value) {
  if (value?.$ref === undefined) return value
  const keys = value.$ref.slice(2).split('/')
  const found = keys.reduce((part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], api)
  return resolve(api, found)
}

/** Makes the request of a completed form. */
function requestOf({ method, path, parameters }, form) {
  const values = new FormData(form)
  const headers = authorization()
  const query = new URLSearchParams()
  let target = path
  for (const { in: place, name } of parameters) {
    const value = values.get(`${place} ${name}`) ?? ''
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '' && place === 'query') query.set(name, value)
    else if (value !== '') headers[name] = value
  }
  const accept = values.get('accept')
  if (accept) headers.accept = accept
  const body = values.get('body') || undefined
  if (body !== undefined) headers['content-type'] = 'application/json'
  // Relative, so that the page also works behind a proxy that adds a path.
  const search = query.size === 0 ? '' : `?${query}`
  return { url: `.${target}${search}`, options: { method, headers, ...(body === undefined ? {} : { body }) } }
}

async function send(operation, form, output, signal) {
  const { url, options } = requestOf(operation, form)
  const response = await fetch(url, { ...options, signal })
  const type = response.headers.get('content-type') ?? ''
  output.textContent = `${response.status} ${type}\n\n`
  if (response.body === null) return
  if (type.includes('json')) {
    const text = await response.text()
    output.append(JSON.stringify(JSON.parse(text), null, 2))
    return
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    output.append(value)
    output.scrollTop = output.scrollHeight
  }
}

function fieldOf({ in: place, name, required, description, schema }) {
  const attributes = { name: `${place} ${name}`, ...(required ? { required: '' } : {}) }
  const choices = schema?.enum
  const input = choices
    ? make('select', attributes, ...['', ...choices].map((choice) => make('option', { text: choice })))
    : make('input', { ...attributes, placeholder: schema?.default ?? '' })
  return make('label', { text: `${name} (${place}) ${description ?? ''}` }, input)
}

/** The type of a value in a few words. */
function kindOf(api, given) {
  const schema = resolve(api, given) ?? {}
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(' | ')
  const options = schema.anyOf ?? schema.oneOf
  if (options !== undefined) return [...new Set(options.map((option) => kindOf(api, option)))].join(' | ')
  if (schema.type === 'array') return `list of ${kindOf(api, schema.items)}`
  return [schema.type ?? 'any'].flat().join(' | ')
}

const MOST_LEVELS = 4

/** All keys of a value and of the values in it, each once. */
function keysOf(api, given, above = '', level = 0, known = new Map()) {
  const schema = resolve(api, given) ?? {}
  if (level === MOST_LEVELS) return known
  for (const option of schema.anyOf ?? schema.oneOf ?? []) keysOf(api, option, above, level, known)
  if (schema.type === 'array') keysOf(api, schema.items, `${above}[]`, level, known)
  for (const [name, value] of Object.entries(schema.properties ?? {})) {
    const path = above === '' ? name : `${above}.${name}`
    const { description = '' } = resolve(api, value) ?? {}
    if (!known.has(path)) {
      known.set(path, { kind: kindOf(api, value), isRequired: schema.required?.includes(name) === true, description })
    }
    keysOf(api, value, path, level + 1, known)
  }
  return known
}

function tableOf(api, schema) {
  const rows = [...keysOf(api, schema)].map(([path, { kind, isRequired, description }]) =>
    make(
      'tr',
      {},
      make('td', {}, make('code', { text: path })),
      make('td', { text: isRequired ? `${kind}, required` : kind }),
      make('td', { text: description }),
    ),
  )
  return rows.length === 0 ? make('p', { text: kindOf(api, schema) }) : make('table', {}, ...rows)
}

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

function examplesOf(api, { example, examples = {} }) {
  const named = Object.entries(examples).map(([name, given]) => {
    const { summary = name, value } = resolve(api, given)
    return [summary, value]
  })
  return example === undefined ? named : [['Example', example], ...named]
}

function bodyFields(api, content, isRequired) {
  const examples = examplesOf(api, content)
  const show = ([, value] = ['', {}]) => textOf(value)
  const text = make('textarea', {
    name: 'body',
    rows: '8',
    spellcheck: 'false',
    ...(isRequired ? { required: '' } : {}),
  })
  text.value = show(examples[0])
  const choice = make('select', {}, ...examples.map(([name]) => make('option', { text: name })))
  choice.addEventListener('change', () => {
    text.value = show(examples[choice.selectedIndex])
  })
  return [
    ...(examples.length === 0 ? [] : [make('label', { text: 'Example' }, choice)]),
    make('label', { text: 'Body' }, text),
    make('details', {}, make('summary', { text: 'Keys of the body' }), tableOf(api, content.schema)),
  ]
}

function formOf(api, operation) {
  const { parameters, body, accepts } = operation
  const json = body?.content['application/json']
  const output = make('pre', { tabindex: '0', 'aria-label': 'Answer' })
  const stop = make('button', { type: 'button', text: 'Stop', disabled: '' })
  const form = make(
    'form',
    {},
    ...parameters.map(fieldOf),
    ...(json === undefined ? [] : bodyFields(api, json, body.required)),
    ...(accepts.length < 2
      ? []
      : [
          make(
            'label',
            { text: 'Accept' },
            make('select', { name: 'accept' }, ...accepts.map((type) => make('option', { text: type }))),
          ),
        ]),
    make('button', { text: 'Send' }),
    stop,
    output,
  )
  let abort = new AbortController()
  stop.addEventListener('click', () => abort.abort())
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    abort.abort()
    const mine = new AbortController()
    abort = mine
    stop.disabled = false
    output.textContent = ''
    await send(operation, form, output, mine.signal).catch((error) => {
      if (abort === mine) output.append(`\n${mine.signal.aborted ? 'Stopped.' : error.message}`)
    })
    if (abort === mine) stop.disabled = true
  })
  return form
}

/** Each answer with its keys and examples. */
function answersOf(api, responses) {
  const answers = Object.entries(responses).map(([status, given]) => {
    const { description, content = {} } = resolve(api, given)
    const kinds = Object.entries(content).flatMap(([type, of]) => [
      make('p', {}, make('code', { text: type })),
      ...(of.schema === undefined ? [] : [tableOf(api, of.schema)]),
      ...examplesOf(api, of).flatMap(([name, value]) => [
        make('p', { text: name }),
        make('pre', { text: textOf(value) }),
      ]),
    ])
    return make('details', {}, make('summary', {}, make('code', { text: status }), ` ${description}`), ...kinds)
  })
  return make('section', {}, make('h3', { text: 'Answers' }), ...answers)
}

function show(api) {
  element('title').textContent = document.title = `${api.info.title} ${api.info.version}`
  for (const { name: tag } of api.tags) {
    const section = make('section', {}, make('h2', { text: tag }))
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const [method, found] of Object.entries(methods)) {
        if (!found.tags.includes(tag)) continue
        const operation = {
          method: method.toUpperCase(),
          path,
          parameters: found.parameters.map((parameter) => resolve(api, parameter)),
          body: resolve(api, found.requestBody),
          accepts: Object.keys(found.responses['200']?.content ?? {}).filter((type) => !type.includes('problem')),
        }
        const box = make(
          'details',
          { id: found.operationId },
          make('summary', {}, make('code', { text: `${operation.method} ${path}` }), ` ${found.summary}`),
        )
        // There are many forms, so each one is made when it is opened.
        box.addEventListener(
          'toggle',
          () =>
            box.append(
              make('p', { text: found.description ?? '' }),
              formOf(api, operation),
              answersOf(api, found.responses),
            ),
          { once: true },
        )
        section.append(box)
      }
    }
    element('operations').append(section)
  }
  const wanted = element(location.hash.slice(1))
  if (wanted) wanted.open = true
}

async function load() {
  element('status').textContent = 'Loading …'
  element('operations').replaceChildren()
  const response = await fetch('./openapi.json', { headers: authorization() })
  if (response.ok) show(await response.json())
  const isStranger = response.status === 401
  element('status').textContent = response.ok
    ? ''
    : isStranger
      ? 'This server needs a token.'
      : `The server answered ${response.status}.`
}

const loadAndTell = () =>
  load().catch((error) => {
    element('status').textContent = error.message
  })

element('token').value = kept.token ?? ''
element('login').addEventListener('submit', (event) => {
  event.preventDefault()
  kept.token = element('token').value.trim()
  loadAndTell()
})
loadAndTell()
