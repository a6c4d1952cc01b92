// The page that GET / shows to a browser. It talks AG-UI to the server it came from, and shows what the session's log tells, so that
// what is said or decided elsewhere is seen here too.

import { createConversation } from './conversation.js'
import { drawApproval, drawCall, drawMarkdown, make } from './draw.js'

const element = (id) => document.getElementById(id)
const log = element('log')
const text = element('text')
const names = { user: 'You', assistant: '', reasoning: 'Thinking', tool: 'Tool', note: 'Note', error: 'Error' }
/** This tab's alone, and gone with it: the thread, the token to talk with, and the one to decide with where that is another. */
const kept = sessionStorage
/** The server says something every 15 s. */
const SILENCE_MS = 45_000
const MAX_PAUSE_MS = 5_000

/** The server may live under a path of another one, and the address of this page may lack its last slash. */
const home = new URL(location.pathname.replace(/\/?$/, '/'), location.origin)

// Not crypto.randomUUID: a page that came over plain http from another machine has none.
const newId = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function call(path, { body, headers, signal, token = kept.token } = {}) {
  const authorization = token ? { authorization: `Bearer ${token}` } : {}
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(new URL(path, home), {
    ...sent,
    signal,
    headers: { ...authorization, ...json, ...headers },
  })
  if (response.ok) return response
  const { detail, code } = await response.json().catch(() => ({}))
  throw Object.assign(new Error(detail ?? `The server answered ${response.status}.`), { status: response.status, code })
}

// ---- what is shown

/** The boxes by the id of their message, tool call or approval. */
const boxes = new Map()
const due = new Set()

/** Changes the log and stays at its end, if that is where the reader was. */
function keepPlace(change) {
  const follows = log.scrollHeight - log.scrollTop - log.clientHeight < 48
  change()
  if (follows) log.scrollTop = log.scrollHeight
}

function draw(item) {
  const { id, kind } = item
  if (!boxes.has(id)) {
    const body = make('div', { className: 'body' })
    log.append(make('article', { className: kind }, make('h2', {}, names[kind]), body))
    boxes.set(id, body)
  }
  const body = boxes.get(id)
  if (kind === 'tool') drawCall(body, item)
  else if (kind === 'assistant') drawMarkdown(body, item.text)
  else body.textContent = item.text
}

/** Once a frame: an answer comes in many pieces. */
function drawDue() {
  const items = [...due]
  // First: what cannot be drawn must not keep everything after it from being drawn.
  due.clear()
  keepPlace(() => {
    for (const item of items) draw(item)
  })
}

function drawSoon(item) {
  // A tab that is not seen has no frames.
  if (due.size === 0) (document.hidden ? setTimeout : requestAnimationFrame)(drawDue)
  due.add(item)
}

const conversation = createConversation({
  changed: drawSoon,
  dropped(item) {
    due.delete(item)
    boxes.get(item.id)?.closest('article').remove()
    boxes.delete(item.id)
  },
  cleared() {
    due.clear()
    boxes.clear()
    log.replaceChildren()
    refreshSoon()
  },
  moved() {
    // What is written here is new. Another client can also edit, or ask for another answer.
    if (conversation.run !== null && conversation.run !== awaited && conversation.runs > 1) mayHaveBranched = true
    if (conversation.run === awaited) awaited = null
    showState()
    refreshSoon()
  },
})

let problem = ''
let isSending = false
/** The run of a message that was sent and has not begun: it waits for the one before it. */
let awaited = null
let mayHaveBranched = false

function showState() {
  const waits = log.querySelector('.approval.open') !== null
  element('stop').disabled = conversation.run === null && !waits
  element('send').disabled = isSending
  // An answer is read out when it is complete, not word by word.
  log.ariaBusy = String(conversation.run !== null)
  const running = awaited === null ? 'Answering …' : 'Answering …, then comes your message.'
  const status = problem || (conversation.run !== null ? running : waits ? 'Waits for a decision.' : '')
  if (element('status').textContent !== status) element('status').textContent = status
  document.title = waits ? `(!) ${element('agent').textContent}` : element('agent').textContent
}

function say(message) {
  problem = message
  showState()
}

// ---- what waits for a person

let refreshes = Promise.resolve()
let isRefreshDue = false

/** The list says what is open, and who decided what. Many events in a row are one question, and answers come in order. */
function refreshSoon() {
  if (isRefreshDue) return
  isRefreshDue = true
  const later = async () => {
    await pause(50)
    isRefreshDue = false
    await refresh()
  }
  refreshes = refreshes.then(later).catch(() => {})
}

async function refresh() {
  // It is tried again with the next one.
  if (mayHaveBranched) await leaveBranches().catch(() => {})
  const query = new URLSearchParams({ session_id: kept.thread, status: 'all', limit: '100' })
  const response = await call(`approvals?${query}`).catch((error) => {
    // Nothing has been said yet.
    if (error.status === 404) return null
    throw error
  })
  const { approvals } = response === null ? { approvals: [] } : await response.json()
  drawDue()
  let asked
  keepPlace(() => {
    const isLeft = ({ status, tool_call_id: call }) => status !== 'pending' && conversation.hasLeft(call)
    for (const approval of approvals.filter(isLeft)) {
      boxes.get(idOf(approval))?.box.remove()
      boxes.delete(idOf(approval))
    }
    const shown = approvals.filter((approval) => !isLeft(approval))
    const added = shown.toReversed().filter(showApproval)
    asked = added.map(boxOf).find((box) => box.classList.contains('open'))
  })
  // A long question is read from its beginning: at its end stand the buttons, which count only once they have been seen.
  if (asked !== undefined && topOf(asked) < topOf(log)) asked.scrollIntoView()
  showState()
}

async function leaveBranches() {
  const begun = conversation.runs
  mayHaveBranched = false
  try {
    const snapshot = await readShown()
    keepPlace(() => conversation.keepShown(snapshot, begun))
  } catch (error) {
    mayHaveBranched = true
    throw error
  }
}

/** The messages that the session shows. */
async function readShown() {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), SILENCE_MS)
  const body = { threadId: kept.thread, runId: newId(), messages: [], protocolVersion: '1.0' }
  try {
    const response = await call('./', { body, signal: controller.signal })
    for await (const { event } of eventsOf(response)) if (event.type === 'MESSAGES_SNAPSHOT') return event
    throw new Error('The server did not say what it shows.')
  } finally {
    clearTimeout(timer)
    // Behind the messages comes the run that is under way, which the log tells.
    controller.abort()
  }
}

const topOf = (box) => box.getBoundingClientRect().top
const idOf = ({ approval_id: id }) => `approval ${id}`
const boxOf = (approval) => boxes.get(idOf(approval)).box

/** True: it is shown for the first time. */
function showApproval(approval) {
  const id = idOf(approval)
  const shown = boxes.get(id)
  // What has not changed stays under the pointer.
  if (shown?.status === approval.status && shown.box.isConnected) return false
  const box = shown?.box ?? make('article')
  boxes.set(id, { box, status: approval.status })
  const after = boxes.get(approval.tool_call_id)?.closest('article')
  if (!box.isConnected) after === undefined ? log.append(box) : after.after(box)
  drawApproval(box, approval, (decision, reason) => decide(box, approval, decision, reason))
  return shown === undefined
}

let isDeciding = false

async function decide(box, approval, decision, reason) {
  const { approval_id: id, digest, answerable_by: by } = approval
  if (isDeciding) return
  const token = kept.deciding ?? kept.token
  const ask = (why) =>
    askToken(`${why} It stays in this tab.`, 'deciding', () => {
      box.focus({ preventScroll: true })
      return decide(box, approval, decision, reason)
    })
  if (token === undefined) return ask(`Deciding needs ${by === 'owner' ? 'your' : 'the operator’s'} token.`)
  const body = { decision, digest, ...(reason.trim() === '' ? {} : { reason }) }
  isDeciding = true
  try {
    await call(`approvals/${encodeURIComponent(id)}`, { body, token })
  } catch (error) {
    delete kept.deciding
    if (error.status === 401) ask('This token is not valid here. Another one?')
    else if (error.status === 403) ask('This needs the operator’s token.')
    else if (error.status === 404) ask('This token belongs to somebody else. Another one?')
    else {
      kept.deciding = token
      box.querySelector('.problem')?.replaceChildren(error.message)
    }
  } finally {
    isDeciding = false
  }
  refreshSoon()
}

// ---- the token

let afterLogin = null

/** `place` says what the token is kept for; where nothing goes without one, there is nothing else to do. */
function askToken(why, place, then, { isNeeded = false } = {}) {
  afterLogin = { place, then }
  element('why').textContent = why
  element('login').hidden = false
  element('later').hidden = element('ask').hidden = isNeeded
  element('token').focus()
}

function closeLogin() {
  afterLogin = null
  element('login').hidden = true
  element('ask').hidden = false
  element('token').value = ''
}

// ---- what comes

/** What has no id is said to this reader alone. */
async function* eventsOf(response, alive = () => {}) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let id = null
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    alive()
    // To split a long line anew with each piece of it would take the square of its length.
    if (!value.includes('\n')) {
      rest += value
      continue
    }
    const all = (rest + value).split('\n')
    rest = all.pop()
    for (const line of all) {
      if (line.startsWith('id: ')) id = line.slice(4)
      else if (line.startsWith('data: ')) {
        yield { id, event: JSON.parse(line.slice(6)) }
        id = null
      }
    }
  }
}

let wake = () => {}
/** Until there may be a session to follow. */
const woken = () =>
  new Promise((resolve) => {
    wake = resolve
  })

/** Shows the session's log to where it is now, then what comes, for as long as the page is open. */
async function follow() {
  let lastId = null
  if (isNew) await woken()
  for (let attempt = 0; ; attempt += 1) {
    const controller = new AbortController()
    let timer
    const alive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(), SILENCE_MS)
    }
    // A browser has six connections to a server: a tab that nobody sees and that nothing happens in gives its own back.
    const onHidden = () => document.hidden && conversation.run === null && controller.abort()
    document.addEventListener('visibilitychange', onHidden)
    try {
      alive()
      const headers = lastId === null ? {} : { 'last-event-id': lastId }
      const path = `sessions/${encodeURIComponent(kept.thread)}/events`
      const response = await call(path, { headers, signal: controller.signal })
      if (attempt > 0) say('')
      refreshSoon()
      for await (const { id, event } of eventsOf(response, alive)) {
        // It is about the connection.
        if (id === null) continue
        attempt = 0
        lastId = id
        conversation.take(event)
      }
    } catch (error) {
      if (error.status === 401) throw error
      if (error.status === 410) {
        conversation.forget()
        lastId = null
        continue
      }
      if (error.status === 400 || error.status === 404) {
        // There is no such session yet, or any more.
        if (lastId !== null) conversation.forget()
        lastId = null
        await woken()
        attempt = -1
        continue
      }
    } finally {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onHidden)
    }
    if (document.hidden) await seen()
    else if (attempt > 0) say('The connection to the server broke. Trying again …')
    await pause(Math.min(300 * 2 ** attempt, MAX_PAUSE_MS))
  }
}

const seen = () =>
  new Promise((resolve) => {
    document.addEventListener('visibilitychange', resolve, { once: true })
  })

async function begin() {
  try {
    const { identity } = await (await call('capabilities')).json()
    names.assistant = element('agent').textContent = identity.name
    showState()
    await follow()
  } catch (error) {
    if (error.status !== 401) {
      say(error.message)
      return
    }
    // It may be that of another server on this address before, and this one may need none.
    const isOld = kept.token !== undefined
    delete kept.token
    // What it had shown is not for whoever comes next.
    conversation.forget()
    if (isOld && !isTyped) return begin()
    isTyped = false
    const why = isOld ? 'This token is not valid here. Another one?' : 'This server asks for a token.'
    askToken(`${why} It stays in this tab.`, 'token', begin, { isNeeded: true })
  }
}

/** The token has just been typed, so that a wrong one is worth a word. */
let isTyped = false

// ---- what the person does

element('ask').addEventListener('submit', async (event) => {
  event.preventDefault()
  const content = text.value
  if (content.trim() === '' || isSending) return
  const messages = [{ id: newId(), role: 'user', content }]
  const body = { threadId: kept.thread, runId: newId(), messages, protocolVersion: '1.0' }
  isSending = true
  awaited = body.runId
  say('')
  text.value = ''
  try {
    const response = await post(body)
    wake()
    isSending = false
    showState()
    // The log tells what is in it. Who reads it to its end is there for the run.
    await response.body.pipeTo(new WritableStream()).catch(() => {})
  } catch (error) {
    isSending = false
    awaited = null
    text.value ||= content
    say(error.message)
  }
})

/** Under the same ids the server goes on with the same run, so that asking again says nothing twice. */
async function post(body) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call('./', { body })
    } catch (error) {
      const isAway = error.status === undefined || error.status === 503
      if (!isAway || attempt === 5) throw error
      await pause(300 * 2 ** attempt)
    }
  }
}

text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
  event.preventDefault()
  element('ask').requestSubmit()
})
element('stop').addEventListener('click', () => {
  const run = conversation.run ?? conversation.waiting
  if (run === null) return
  const stopped = call(`runs/${encodeURIComponent(run)}/cancel`, { body: {} })
  // A run that waits has said its last word: the log does not tell that it is given up.
  stopped.then(refreshSoon, (error) => say(error.message))
  text.focus()
})
element('login').addEventListener('submit', (event) => {
  event.preventDefault()
  const { place, then } = afterLogin
  kept[place] = element('token').value.trim()
  isTyped = true
  closeLogin()
  then()
  if (place === 'token') text.focus()
})
element('later').addEventListener('click', () => {
  closeLogin()
  text.focus()
})
element('change').addEventListener('click', () => {
  askToken('Talk with another token. It stays in this tab.', 'token', () => {
    delete kept.deciding
    location.reload()
  })
})
element('fresh').addEventListener('click', () => open(newId()))
addEventListener('focus', () => {
  wake()
  if (log.querySelector('.approval.open') !== null) refreshSoon()
})
addEventListener('hashchange', () => location.reload())

/** The address names the conversation, so that another tab can open it too. */
function open(thread) {
  location.hash = `thread=${encodeURIComponent(thread)}`
}

const given = new URLSearchParams(location.hash.slice(1))
if (given.has('token')) kept.token = given.get('token')
/** What the server takes as a name, but for the two that no address can have as a part. */
const isThread = (name) => /^(?!\.{1,2}$)\P{Cc}{1,128}$/u.test(name)
const known = [given.get('thread') ?? '', kept.thread ?? ''].find(isThread)
/** Nobody but this page can know of it yet. */
const isNew = known === undefined
kept.thread = known ?? newId()
// A token must not stay in the address line and the history.
history.replaceState(null, '', `${location.pathname}#thread=${encodeURIComponent(kept.thread)}`)
text.focus()
begin()
