// The page of GET /docs. It reads the document of the server it came from. What it shows is only ever set as text.

const element = (id) => document.getElementById(id)
/** This tab's alone. */
const kept = sessionStorage

function make(name, { text, ...attributes } = {}, ...children) {
  const made = document.createElement(name)
  if (text !== undefined) made.textContent = text
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

const authorization = () => (kept.token ? { authorization: `Bearer ${kept.token}` } : {})

/** What a reference leads to; anything else is itself. */
function resolve(api, value) {
  if (value?.$ref === undefined) return value
  const keys = value.$ref.slice(2).split('/')
  return keys.reduce((part, key) => part?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], api)
}

/** The request that a filled-in form stands for. */
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
  // Relative, so that the page also works behind a proxy that gives the server a path of its own.
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

function bodyFields(content, isRequired) {
  const examples = Object.entries(content.examples ?? {})
  const show = ([, { value }] = ['', {}]) => JSON.stringify(value, null, 2) ?? ''
  const text = make('textarea', {
    name: 'body',
    rows: '8',
    spellcheck: 'false',
    ...(isRequired ? { required: '' } : {}),
  })
  text.value = show(examples[0])
  const choice = make('select', {}, ...examples.map(([name, { summary }]) => make('option', { text: summary ?? name })))
  choice.addEventListener('change', () => {
    text.value = show(examples[choice.selectedIndex])
  })
  return [make('label', { text: 'Example' }, choice), make('label', { text: 'Body' }, text)]
}

function formOf(operation) {
  const { parameters, body, accepts } = operation
  const output = make('pre', { tabindex: '0', 'aria-label': 'Answer' })
  const stop = make('button', { type: 'button', text: 'Stop', disabled: '' })
  const form = make(
    'form',
    {},
    ...parameters.map(fieldOf),
    ...(body === undefined ? [] : bodyFields(body.content['application/json'], body.required)),
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

function errorsOf(responses) {
  const rows = Object.entries(responses).map(([status, { description }]) =>
    make('li', {}, make('code', { text: status }), ` ${description}`),
  )
  return make('details', {}, make('summary', { text: 'Answers' }), make('ul', {}, ...rows))
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
          body: found.requestBody,
          accepts: Object.keys(found.responses['200']?.content ?? {}).filter((type) => !type.includes('problem')),
        }
        const box = make(
          'details',
          { id: found.operationId },
          make('summary', {}, make('code', { text: `${operation.method} ${path}` }), ` ${found.summary}`),
        )
        // The form is made when it is looked at: there are many.
        box.addEventListener(
          'toggle',
          () => box.append(make('p', { text: found.description ?? '' }), formOf(operation), errorsOf(found.responses)),
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
      ? 'This server asks for its token.'
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
