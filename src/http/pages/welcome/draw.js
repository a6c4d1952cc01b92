// Makes the elements of the page. All text is set as text: nothing from a model or a tool is ever read as HTML.

import { parseMarkdown } from './markdown.js'
import { shownArguments, visibleJson, visibleText } from './visible.js'

/** Characters of a result that are shown. The agent has all of it. */
const MAX_RESULT = 300

/** A child may be a list of children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties)
  // One by one: a single call cannot take very many arguments.
  for (const child of children.flat()) element.append(child)
  return element
}

function inline(nodes) {
  return nodes.map((node) => {
    if (node.type === 'text') return node.text
    if (node.type === 'code') return make('code', {}, node.text)
    if (node.type !== 'link') return make(node.type, {}, inline(node.children))
    // The text of a link may say anything, so its address is shown too.
    const { href } = node
    return make('a', { href, title: href, target: '_blank', rel: 'noopener noreferrer' }, inline(node.children))
  })
}

function cells(tag, row, align) {
  return row.map((cell, i) => make(tag, { className: align[i] ?? '' }, inline(cell)))
}

function block(node) {
  switch (node.type) {
    case 'heading':
      // The headings of the page rank above those of an answer.
      return make(`h${Math.min(node.level + 2, 6)}`, {}, inline(node.children))
    case 'code':
      return make('pre', { tabIndex: 0 }, make('code', {}, node.text))
    case 'quote':
      return make('blockquote', {}, node.blocks.map(block))
    case 'list': {
      const items = node.items.map((blocks) => make('li', {}, blocks.map(block)))
      return node.start === null ? make('ul', {}, items) : make('ol', { start: node.start }, items)
    }
    case 'table': {
      const [head, ...rows] = node.rows
      const body = rows.map((row) => make('tr', {}, cells('td', row, node.align)))
      const table = make('table', {}, make('thead', {}, make('tr', {}, cells('th', head, node.align))))
      table.append(make('tbody', {}, body))
      return make('div', { className: 'wide', tabIndex: 0 }, table)
    }
    case 'rule':
      return make('hr')
    default:
      return make('p', {}, inline(node.children))
  }
}

/** Draws a text that may grow. Unchanged blocks stay, so that a selection in them stays too. */
export function drawMarkdown(box, text) {
  const sources = box.sources ?? []
  const blocks = parseMarkdown(text)
  let same = 0
  while (same < blocks.length && sources[same] === blocks[same].source) same += 1
  while (box.childNodes.length > same) box.lastChild.remove()
  for (const one of blocks.slice(same)) box.append(block(one))
  box.sources = blocks.map(({ source }) => source)
}

export function drawCall(box, { text, result }) {
  const shown = result === null ? '' : visibleText(result.slice(0, MAX_RESULT))
  const cut = result !== null && result.length > MAX_RESULT ? '…' : ''
  box.textContent = visibleJson(text) + (result === null ? '' : ` → ${shown}${cut}`)
}

const timeOf = (text) => new Date(text).toLocaleTimeString()

function argumentList(args) {
  const shown = shownArguments(args)
  if (shown.length === 0) return make('p', {}, 'No arguments.')
  return make(
    'dl',
    {},
    shown.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]),
  )
}

const words = {
  approved: 'Approved',
  consumed: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  expired: 'Nobody answered in time',
}

/** The outcome of a question: who decided what, and when. */
function outcomeOf({ status, decided_by: by, decided_at: at, reason, edited_arguments: edited }) {
  const what = words[status] ?? 'No longer needed'
  const who = by === null || status === 'expired' ? '' : ` by ${by}`
  const when = at === null ? '' : `, ${timeOf(at)}`
  const why = reason === null ? '' : `: ${reason}`
  const line = make('p', { className: 'outcome' }, `${what}${who}${when}${why}`)
  return edited === null ? [line] : [line, make('p', {}, 'With other arguments:'), argumentList(edited)]
}

/** The fields to begin with: those that are needed or have a usual value, otherwise all. */
function emptyAnswer({ properties = {}, required = [] }) {
  const fields = Object.entries(properties)
  const begun = fields.filter(([name, field]) => required.includes(name) || field.default !== undefined)
  const shown = (begun.length === 0 ? fields : begun).map(([name, field]) => [name, field.default ?? null])
  return JSON.stringify(Object.fromEntries(shown), null, 2)
}

/** Undefined: it is not JSON. A text is taken as it is. */
function answerIn(text, { type }) {
  if (type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * A call that waits for a person, or a question of its tool: everything that would run, then the buttons. Approve works only after the buttons have been on
 * screen for a moment. So nobody approves what they have not seen, or with a click that was meant for something else.
 */
export function drawApproval(box, approval, decide) {
  const { title, agent, risk, answerable_by: by, expires_at: expires } = approval
  // The server has made all characters of the title visible.
  const heading = make('h2', {}, title)
  const isOpen = approval.status === 'pending'
  box.className = `approval ${isOpen ? 'open' : 'over'} ${risk}`
  box.tabIndex = -1
  const held = box.contains(document.activeElement)
  if (!isOpen) {
    box.replaceChildren(heading, ...outcomeOf(approval))
    // The buttons are gone. Keep the focus here for the person who just used them.
    if (held) box.focus({ preventScroll: true })
    return
  }
  const who = by === 'owner' ? 'you, with your token, or an operator' : 'an operator'
  const until = expires === null ? '' : ` Without an answer it ends at ${timeOf(expires)}.`
  const facts = make('p', { className: 'facts' }, make('strong', {}, `Risk ${risk}.`))
  const { quorum, decisions } = approval
  const yeses = decisions.map(({ by }) => visibleText(by)).join(', ')
  const several = quorum < 2 ? '' : ` ${decisions.length} of ${quorum} people have said yes${yeses && `: ${yeses}`}.`
  facts.append(` Asked by ${visibleText(agent)}. To be decided by ${who}.${until}${several}`)

  const reason = make('input', { type: 'text', maxLength: 1000, autocomplete: 'off' })
  const label = make('label', {}, 'Reason for rejecting, shown to the agent (optional)', reason)
  const { question, preview } = approval
  const answer = make('textarea', { rows: 3, maxLength: 10_000 })
  if (question !== null && question.schema.type !== 'string') answer.value = emptyAnswer(question.schema)
  const yes = question === null ? 'Approve' : 'Answer'
  const approve = make('button', { type: 'button', className: 'yes', disabled: true }, yes)
  const reject = make('button', { type: 'button' }, 'Reject')
  const problem = make('p', { className: 'problem', role: 'status' })
  approve.addEventListener('click', () => {
    if (question === null) return decide('approve', '')
    const result = answerIn(answer.value, question.schema)
    if (result === undefined) problem.replaceChildren('The answer is not JSON.')
    else decide('respond', '', result)
  })
  reject.addEventListener('click', () => decide('reject', reason.value))
  const buttons = make('div', { className: 'buttons' }, approve, reject)
  const shown =
    question === null
      ? [argumentList(approval.arguments), ...(preview === null ? [] : [make('pre', {}, preview)])]
      : [make('pre', {}, approval.description), make('label', {}, 'Your answer', answer)]
  box.replaceChildren(heading, facts, ...shown, label, buttons, problem)

  let timer
  const observer = new IntersectionObserver(([{ isIntersecting }]) => {
    clearTimeout(timer)
    if (!isIntersecting) return
    timer = setTimeout(() => {
      approve.disabled = false
      observer.disconnect()
    }, 500)
  })
  observer.observe(buttons)
}
