// The page that GET / shows to a browser. It talks AG-UI to its own server and shows the session's log, so that it also shows what is
// said or decided elsewhere.

import { createConversation } from './conversation.js'
import { drawApproval, drawCall, drawMarkdown, make } from './draw.js'

const element = (id) => document.getElementById(id)
const log = element('log')
const text = element('text')
const names = { user: 'You', assistant: '', reasoning: 'Thinking', tool: 'Tool', note: 'Note', error: 'Error' }
/** Only for this tab: the thread, the token to talk with, and the token to decide with if that is another one. */
const kept = sessionStorage
/** The server sends something every 15 s. */
const SILENCE_MS = 45_000
const MAX_PAUSE_MS = 5_000

/** The server may be mounted under a path, and the address of this page may lack its last slash. */
const home = new URL(location.pathname.replace(/\/?$/, '/'), location.origin)

// Not crypto.randomUUID: a page loaded over plain http from another machine does not have it.
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

// ---- showing the conversation

/** The boxes, keyed by the id of their message, tool call or approval. */
const boxes = new Map()
const due = new Set()

/** Changes the log. If the reader was at its end, the end stays visible. */
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

/** Called once per frame, because an answer arrives in many pieces. */
function drawDue() {
  const items = [...due]
  // Cleared first: an item that cannot be drawn must not block all later ones.
  due.clear()
  keepPlace(() => {
    for (const item of items) draw(item)
  })
}

function drawSoon(item) {
  // A hidden tab has no frames.
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
    // This page only adds messages. Another client can also edit one, or request another answer.
    if (conversation.run !== null && conversation.run !== awaited && conversation.runs > 1) mayHaveBranched = true
    if (conversation.run === awaited) awaited = null
    showState()
    refreshSoon()
  },
})

let problem = ''
let isSending = false
/** The run of a message that was sent but has not begun, because it waits for the run before it. */
let awaited = null
let mayHaveBranched = false

function showState() {
  const waits = log.querySelector('.approval.open') !== null
  element('stop').disabled = conversation.run === null && !waits
  element('send').disabled = isSending
  // Screen readers read an answer when it is complete, not word by word.
  log.ariaBusy = String(conversation.run !== null)
  const running = awaited === null ? 'Answering …' : 'Answering … Your message comes next.'
  const status = problem || (conversation.run !== null ? running : waits ? 'Waiting for a decision.' : '')
  if (element('status').textContent !== status) element('status').textContent = status
  document.title = waits ? `(!) ${element('agent').textContent}` : element('agent').textContent
}

function say(message) {
  problem = message
  showState()
}

// ---- approvals

let refreshes = Promise.resolve()
let isRefreshDue = false

/** Loads the list of approvals. Many events in a row cause one request, and the answers are used in order. */
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
  // If it fails, the next refresh tries again.
  if (mayHaveBranched) await leaveBranches().catch(() => {})
  const query = new URLSearchParams({ session_id: kept.thread, status: 'all', limit: '100' })
  const response = await call(`approvals?${query}`).catch((error) => {
    // The session does not exist yet.
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
  // Scroll to the beginning of a long question. Its buttons are at the end and work only after they have been seen.
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

/** Requests the messages that the session shows now. */
async function readShown() {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), SILENCE_MS)
  const body = { threadId: kept.thread, runId: newId(), messages: [], protocolVersion: '1.0' }
  try {
    const response = await call('./', { body, signal: controller.signal })
    for await (const { event } of eventsOf(response)) if (event.type === 'MESSAGES_SNAPSHOT') return event
    throw new Error('The server did not send the messages.')
  } finally {
    clearTimeout(timer)
    // After the messages comes the current run, which the log shows already.
    controller.abort()
  }
}

const topOf = (box) => box.getBoundingClientRect().top
const idOf = ({ approval_id: id }) => `approval ${id}`
const boxOf = (approval) => boxes.get(idOf(approval)).box

/** Returns true if the approval is shown for the first time. */
function showApproval(approval) {
  const id = idOf(approval)
  const shown = boxes.get(id)
  // An unchanged box is not drawn again, so that it does not move under the pointer.
  const status = `${approval.status} ${approval.decisions.length}`
  if (shown?.status === status && shown.box.isConnected) return false
  const box = shown?.box ?? make('article')
  boxes.set(id, { box, status })
  const after = boxes.get(approval.tool_call_id)?.closest('article')
  if (!box.isConnected) after === undefined ? log.append(box) : after.after(box)
  drawApproval(box, approval, (decision, reason, result) => decide(box, approval, decision, reason, result))
  return shown === undefined
}

let isDeciding = false

async function decide(box, approval, decision, reason, result) {
  const { approval_id: id, digest, answerable_by: by } = approval
  if (isDeciding) return
  const token = kept.deciding ?? kept.token
  const ask = (why) =>
    askToken(`${why} It stays in this tab.`, 'deciding', () => {
      box.focus({ preventScroll: true })
      return decide(box, approval, decision, reason, result)
    })
  if (token === undefined) return ask(`Deciding needs ${by === 'owner' ? 'your' : 'the operator’s'} token.`)
  const body = { decision, digest, result, ...(reason.trim() === '' ? {} : { reason }) }
  isDeciding = true
  try {
    await call(`approvals/${encodeURIComponent(id)}`, { body, token })
  } catch (error) {
    delete kept.deciding
    if (error.status === 401) ask('This token is not valid here. Try another one.')
    else if (error.status === 403) ask('This needs the operator’s token.')
    else if (error.status === 404) ask('This token belongs to another user. Try another one.')
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

/** `place` says what the token is for. With `isNeeded` the page cannot be used without it. */
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

// ---- following the log

/** An event without an id is only for this reader. */
async function* eventsOf(response, alive = () => {}) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  let id = null
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    alive()
    // Splitting a long line again with each piece would take time proportional to the square of its length.
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
/** Resolves when there may be a session to follow. */
const woken = () =>
  new Promise((resolve) => {
    wake = resolve
  })

/** Shows the session's log from its beginning, and then everything new, while the page is open. */
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
    // A browser allows six connections to a server. A hidden tab without a run closes its own.
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
        // An event about the connection.
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
        // The session does not exist yet, or no longer.
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
    else if (attempt > 0) say('The connection to the server was lost. Trying again …')
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
    // The token may be from another server that had this address, and this server may need none.
    const isOld = kept.token !== undefined
    delete kept.token
    // The next person must not see what was shown.
    conversation.forget()
    if (isOld && !isTyped) return begin()
    isTyped = false
    const why = isOld ? 'This token is not valid here. Try another one.' : 'This server needs a token.'
    askToken(`${why} It stays in this tab.`, 'token', begin, { isNeeded: true })
  }
}

/** The person has just typed the token, so the page says if it is wrong. */
let isTyped = false

// ---- what the person can do

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
    // The log shows the content. Reading to the end keeps a reader on the run, so that it is not stopped.
    await response.body.pipeTo(new WritableStream()).catch(() => {})
  } catch (error) {
    isSending = false
    awaited = null
    text.value ||= content
    say(error.message)
  }
})

/** Sends a message again until it arrives. The same ids mean the same run, so nothing is said twice. */
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
  // A waiting run writes no more events, so the log does not say that it was cancelled.
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
  askToken('Use another token. It stays in this tab.', 'token', () => {
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

/** The address contains the conversation, so that another tab can open it too. */
function open(thread) {
  location.hash = `thread=${encodeURIComponent(thread)}`
}

const given = new URLSearchParams(location.hash.slice(1))
if (given.has('token')) kept.token = given.get('token')
/** Names that the server accepts, except `.` and `..`, which a path cannot contain. */
const isThread = (name) => /^(?!\.{1,2}$)\P{Cc}{1,128}$/u.test(name)
const known = [given.get('thread') ?? '', kept.thread ?? ''].find(isThread)
/** Only this page can know the conversation. */
const isNew = known === undefined
kept.thread = known ?? newId()
// A token must not stay in the address bar or the history.
history.replaceState(null, '', `${location.pathname}#thread=${encodeURIComponent(kept.thread)}`)
text.focus()
begin()
