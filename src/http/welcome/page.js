// The page that GET / shows to a browser. It talks AG-UI to the server it came from. What it shows is only ever set as text.

const element = (id) => document.getElementById(id)
const log = element('log')
const text = element('text')
const names = { user: 'You', assistant: '', reasoning: 'Thinking', tool: 'Tool', note: 'Note', error: 'Error' }
/** The paragraphs by the id of their message or tool call, so that what comes twice is shown once. */
const lines = new Map()
/** This tab's alone: the token, the thread, and the run that is not over yet. */
const kept = sessionStorage

// Not crypto.randomUUID: a page that came over plain http from another machine has none.
const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')

async function call(path, body) {
  const token = kept.token ? { authorization: `Bearer ${kept.token}` } : {}
  const headers = { ...token, 'content-type': 'application/json' }
  const response = await fetch(path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers })
  if (response.ok) return response
  if (response.status === 401 && kept.token) {
    // It may be that of another server on this address before, and this one may need none.
    delete kept.token
    return call(path, body)
  }
  const { detail } = await response.json().catch(() => ({}))
  throw Object.assign(new Error(detail ?? `The server answered ${response.status}.`), { status: response.status })
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const all = (rest + value).split('\n')
    rest = all.pop()
    for (const line of all) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
  }
}

function write(id, kind, content, { anew = false } = {}) {
  const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 48
  if (!lines.has(id)) {
    const box = document.createElement('article')
    const heading = document.createElement('h2')
    lines.set(id, document.createElement('p'))
    heading.textContent = names[kind]
    box.className = kind
    box.append(heading, lines.get(id))
    log.append(box)
  }
  if (anew) lines.get(id).textContent = content
  else lines.get(id).append(content)
  if (follows) log.scrollTop = log.scrollHeight
}

const plain = (content) =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? `[${part.type}]`).join('\n')

function writeResult(callId, content) {
  const result = plain(content)
  write(callId, 'tool', ` → ${result.length > 300 ? `${result.slice(0, 300)}…` : result}`)
}

function showMessage({ id, role, content = '', toolCalls = [], toolCallId }) {
  if (role === 'tool') writeResult(toolCallId, content)
  else if (names[role] !== undefined && content.length > 0) write(id, role, plain(content), { anew: true })
  for (const { id, function: made } of toolCalls) write(id, 'tool', `${made.name} ${made.arguments}`, { anew: true })
}

const shows = {
  RUN_STARTED: ({ input }) => input?.messages.forEach(showMessage),
  MESSAGES_SNAPSHOT({ messages }) {
    lines.clear()
    log.replaceChildren()
    messages.forEach(showMessage)
  },
  TEXT_MESSAGE_START: ({ messageId }) => write(messageId, 'assistant', '', { anew: true }),
  TEXT_MESSAGE_CONTENT: ({ messageId, delta }) => write(messageId, 'assistant', delta),
  REASONING_MESSAGE_START: ({ messageId }) => write(messageId, 'reasoning', '', { anew: true }),
  REASONING_MESSAGE_CONTENT: ({ messageId, delta }) => write(messageId, 'reasoning', delta),
  TOOL_CALL_START: ({ toolCallId, toolCallName }) => write(toolCallId, 'tool', `${toolCallName} `, { anew: true }),
  TOOL_CALL_ARGS: ({ toolCallId, delta }) => write(toolCallId, 'tool', delta),
  TOOL_CALL_RESULT: ({ toolCallId, content }) => writeResult(toolCallId, content),
  RUN_ERROR: ({ message }) => write(newId(), 'error', message),
  RUN_FINISHED: ({ outcome }) => outcome?.type === 'cancelled' && write(newId(), 'note', 'Stopped.'),
}

/** Shows a run to its end. What breaks is asked for again: under the same ids the server goes on with the same run. */
async function follow(input) {
  for (let attempt = 0; ; attempt += 1) {
    let failure = new Error('The connection to the server broke.')
    try {
      for await (const event of eventsOf(await call('./', { ...input, protocolVersion: '1.0' }))) {
        if (event.code === 'shutting_down') break
        attempt = 0
        shows[event.type]?.(event)
        if (event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR') return
      }
    } catch (error) {
      failure = error
    }
    const isBroken = failure.status === undefined || failure.status === 503
    if (!isBroken || attempt === 5) throw failure
    await new Promise((resolve) => setTimeout(resolve, 300 * 2 ** attempt))
  }
}

/** One piece of work at a time. What goes wrong is said. */
async function work(status, task) {
  element('send').disabled = true
  element('stop').disabled = !kept.run
  element('status').textContent = status
  // An answer is read out when it is complete, not word by word.
  log.ariaBusy = 'true'
  const error = await task().then(
    () => null,
    (reason) => reason,
  )
  log.ariaBusy = 'false'
  const isStranger = error?.status === 401
  element('status').textContent = isStranger ? 'This server asks for its token.' : (error?.message ?? '')
  element('send').disabled = false
  element('stop').disabled = true
  if (error === null || isStranger) {
    element('login').hidden = !isStranger
    element('ask').hidden = isStranger
  }
  const focused = document.activeElement
  if (focused === document.body || focused.disabled) (element('ask').hidden ? element('token') : text).focus()
}

async function run(messages) {
  await follow({ threadId: kept.thread, runId: kept.run, messages })
  delete kept.run
}

async function load() {
  const { identity } = await (await call('capabilities')).json()
  names.assistant = element('agent').textContent = document.title = identity.name
  await follow({ threadId: kept.thread, runId: newId(), messages: [] })
  if (kept.run) await run([])
}

element('ask').addEventListener('submit', async (event) => {
  event.preventDefault()
  const content = text.value
  if (content.trim() === '' || element('send').disabled) return
  const message = { id: newId(), role: 'user', content }
  kept.run = newId()
  text.value = ''
  showMessage(message)
  await work('Answering …', () =>
    run([message]).catch((error) => {
      if (error.status !== undefined) {
        // It was refused: back to where it can be sent again.
        lines.get(message.id)?.parentElement.remove()
        text.value ||= content
        delete kept.run
      }
      throw error
    }),
  )
})
text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  element('ask').requestSubmit()
})
element('stop').addEventListener('click', () => {
  call(`runs/${kept.run}/cancel`, {}).catch((error) => write(newId(), 'error', error.message))
})
element('login').addEventListener('submit', (event) => {
  event.preventDefault()
  kept.token = element('token').value.trim()
  element('token').value = ''
  work('Loading …', load)
})
element('fresh').addEventListener('click', () => {
  delete kept.run
  kept.thread = newId()
  location.reload()
})
addEventListener('hashchange', () => location.reload())

const token = new URLSearchParams(location.hash.slice(1)).get('token')
if (token !== null) {
  kept.token = token
  // It must not stay in the address line and the history.
  history.replaceState(null, '', location.pathname)
}
kept.thread ??= newId()
work('Loading …', load)
