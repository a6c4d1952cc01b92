// The real answer of a request, as it arrives.

import { make } from './make.js'
import { visibleLine, visibleLines } from './visible.js'

/** Longer answers would make the page slow. The oldest text goes first. */
const MOST_CHARS = 500_000

/** @returns {{ element: HTMLElement, show(send: (signal: AbortSignal) => Promise<Response>): Promise<void> }} */
export function createAnswerView() {
  const line = make('p', { class: 'line', role: 'status' })
  const stop = make('button', { type: 'button', class: 'small', text: 'Stop', hidden: true })
  const more = make('div')
  const element = make(
    'section',
    { class: 'answer', 'aria-label': 'Answer', hidden: true },
    make('div', { class: 'row' }, line, stop),
    more,
  )
  let abort = new AbortController()
  stop.addEventListener('click', () => abort.abort())

  async function show(send) {
    abort.abort()
    const mine = new AbortController()
    abort = mine
    const isMine = () => abort === mine
    element.hidden = false
    stop.hidden = false
    more.replaceChildren()
    line.className = 'line'
    line.textContent = 'Waiting …'
    const startedAt = performance.now()
    const facts = { head: '', bytes: 0 }
    const tell = (end) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(2)
      line.textContent = [facts.head, `${seconds} s`, `${facts.bytes.toLocaleString('en')} bytes`, end]
        .filter(Boolean)
        .join(' · ')
    }
    try {
      const response = await send(mine.signal)
      if (!isMine()) return
      facts.head = `${response.status} ${response.statusText}`.trim()
      line.classList.add(response.ok ? 'good' : 'bad')
      tell('')
      more.append(headersOf(response))
      await showBody(response, more, facts, () => tell('receiving'))
      if (isMine()) tell('')
    } catch (error) {
      if (!isMine()) return
      if (mine.signal.aborted) tell('stopped')
      else line.textContent = `There was no answer: ${error.message}`
    } finally {
      if (isMine()) stop.hidden = true
    }
  }

  return { element, show }
}

function headersOf({ headers }) {
  const rows = [...headers].map(([name, value]) =>
    make('tr', {}, make('th', { scope: 'row', text: name }), make('td', { text: visibleLine(value) })),
  )
  return make(
    'details',
    {},
    make('summary', { text: `Headers (${rows.length})` }),
    make('table', {}, make('tbody', {}, ...rows)),
  )
}

async function showBody(response, place, facts, onPiece) {
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || response.status === 204) return
  if (!/^text\/|json|javascript|xml/.test(type)) return showFile(await response.blob(), place, facts)
  const output = make('pre', { tabindex: '0', 'aria-label': 'Body' })
  place.append(output)
  if (/json/.test(type)) {
    const text = await response.text()
    facts.bytes = new Blob([text]).size
    output.textContent = cut(visibleLines(pretty(text)))
    return
  }
  await showStream(response.body, output, facts, onPiece)
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const cut = (text) =>
  text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS)}\n… ${text.length - MOST_CHARS} more characters`

async function showStream(body, output, facts, onPiece) {
  const decoder = new TextDecoder()
  let shown = 0
  for (const reader = body.getReader(); ; ) {
    const { value, done } = await reader.read()
    if (done) return
    facts.bytes += value.length
    const piece = visibleLines(decoder.decode(value, { stream: true }))
    // Who scrolled up to read stays there.
    const follows = output.scrollHeight - output.scrollTop - output.clientHeight < 40
    output.append(piece)
    shown += piece.length
    while (shown > MOST_CHARS && output.childNodes.length > 1) {
      shown -= output.firstChild.textContent.length
      output.firstChild.remove()
    }
    if (follows) output.scrollTop = output.scrollHeight
    onPiece()
  }
}

function showFile(blob, place, facts) {
  facts.bytes = blob.size
  const url = URL.createObjectURL(blob)
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(blob.type))
    place.append(make('img', { src: url, alt: 'The picture in the answer' }))
  place.append(make('p', {}, make('a', { href: url, download: 'answer', text: 'Save it as a file' })))
}
