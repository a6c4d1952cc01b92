// Parses Markdown that a model is still writing. Unfinished constructs are fine, nothing throws, and the time is proportional to the
// length of the text. HTML is plain text. The only addresses in the tree are those of links.

/**
 * @typedef {{type: 'text' | 'code', text: string}
 *   | {type: 'strong' | 'em' | 'del', children: Inline[]}
 *   | {type: 'link', href: string, children: Inline[]}} Inline
 * @typedef {{type: 'heading', level: number, children: Inline[]}
 *   | {type: 'paragraph', children: Inline[]}
 *   | {type: 'code', language: string, text: string}
 *   | {type: 'quote', blocks: Block[]}
 *   | {type: 'list', start: number | null, items: Block[][]}
 *   | {type: 'table', align: ('left' | 'center' | 'right' | null)[], rows: Inline[][][]}
 *   | {type: 'rule'}} Block
 */

/** Nobody writes deeper. Deeper levels are text. */
const MAX_DEPTH = 12
const MAX_ADDRESS = 2_000
const MAX_OPEN = 20
/** Emphasis marks in a row. Each pair of them is an element inside another. */
const MAX_MARKS = 8

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}(?! )| |$)/

/**
 * The blocks of a text, each with its source lines. While a text grows, the earlier blocks stay the same.
 * @param {string} text
 * @returns {(Block & {source: string})[]}
 */
export function parseMarkdown(text) {
  const lines = withoutTabs(text.replaceAll('\r\n', '\n').split('\n'))
  return blocksOf(lines, 0).map(({ block, from, to }) => ({ ...block, source: lines.slice(from, to).join('\n') }))
}

/** Replaces tabs that indent a line. Lines inside a fence stay unchanged. */
function withoutTabs(lines) {
  let open = null
  return lines.map((line) => {
    const marks = /^[ \t]*(`{3,}|~{3,})/.exec(line)?.[1]
    if (open !== null) {
      if (marks?.startsWith(open) && line.trim() === marks) open = null
      return line
    }
    if (marks !== undefined && FENCE.test(line.trimStart())) open = marks
    return line.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '    '))
  })
}

function blocksOf(lines, depth) {
  const found = []
  let at = 0
  while (at < lines.length) {
    if (lines[at].trim() === '') {
      at += 1
      continue
    }
    const from = at
    const read = blockAt(lines, at, depth)
    at = read.to
    found.push({ block: read.block, from, to: at })
  }
  return found
}

const inside = (lines, depth) => blocksOf(lines, depth + 1).map(({ block }) => block)

function blockAt(lines, at, depth) {
  const line = lines[at]
  const fence = FENCE.exec(line)
  if (fence !== null) return fenced(lines, at, fence)
  const heading = HEADING.exec(line)
  if (heading !== null) {
    const words = withoutClosing(line.slice(heading[0].length).trim())
    return { block: { type: 'heading', level: heading[1].length, children: parseInline(words) }, to: at + 1 }
  }
  if (isRule(line)) return { block: { type: 'rule' }, to: at + 1 }
  if (depth < MAX_DEPTH && QUOTE.test(line)) {
    let to = at
    while (to < lines.length && QUOTE.test(lines[to])) to += 1
    const quoted = lines.slice(at, to).map((one) => one.replace(QUOTE, ''))
    return { block: { type: 'quote', blocks: inside(quoted, depth) }, to }
  }
  if (depth < MAX_DEPTH && ITEM.test(line)) return list(lines, at, depth)
  if (isTable(lines, at)) return table(lines, at)
  let to = at + 1
  while (to < lines.length && !begins(lines, to)) to += 1
  const words = lines.slice(at, to).map((one) => one.trim())
  return { block: { type: 'paragraph', children: parseInline(words.join('\n')) }, to }
}

/** True if a paragraph ends before this line. */
function begins(lines, at) {
  const line = lines[at]
  if (line.trim() === '' || FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || isRule(line)) return true
  const item = ITEM.exec(line)
  // `1986. What a year` continues the paragraph.
  if (item !== null && line.length > item[0].length && !/^\d/.test(item[2])) return true
  return (item !== null && /^1[.)]$/.test(item[2])) || isTable(lines, at)
}

function isRule(line) {
  const bare = line.replaceAll(' ', '')
  return bare.length > 2 && /^(?:-+|\*+|_+)$/.test(bare) && !line.startsWith('    ')
}

function withoutClosing(words) {
  let end = words.length
  while (words[end - 1] === '#') end -= 1
  if (end === 0) return ''
  return end < words.length && words[end - 1] === ' ' ? words.slice(0, end).trimEnd() : words
}

function fenced(lines, at, [whole, marks, info]) {
  const indent = whole.length - whole.trimStart().length
  let to = at + 1
  const isEnd = (line) => {
    const end = line.trim()
    return end.length >= marks.length && end === marks[0].repeat(end.length) && !line.startsWith('    ')
  }
  while (to < lines.length && !isEnd(lines[to])) to += 1
  const text = lines
    .slice(at + 1, to)
    .map((line) => (line.slice(0, indent).trim() === '' ? line.slice(indent) : line.trimStart()))
    .join('\n')
  const [language = ''] = info.trim().split(' ')
  return { block: { type: 'code', language, text }, to: Math.min(to + 1, lines.length) }
}

const kindOf = (marker) => (/^\d/.test(marker) ? marker.at(-1) : marker)
const indentOf = (line) => line.length - line.trimStart().length

function list(lines, at, depth) {
  const [, , marker] = ITEM.exec(lines[at])
  const items = []
  let to = at
  while (to < lines.length) {
    const item = ITEM.exec(lines[to])
    if (item === null || kindOf(item[2]) !== kindOf(marker) || isRule(lines[to])) break
    const width = item[0].length === lines[to].length ? item[1].length + item[2].length + 1 : item[0].length
    const own = [lines[to].slice(item[0].length)]
    let next = to + 1
    for (; next < lines.length; next += 1) {
      const line = lines[next]
      if (line.trim() === '') {
        own.push('')
        continue
      }
      // Models write two spaces where three are needed.
      const belongs = indentOf(line) >= Math.min(width, 2)
      const goesOn = lines[next - 1].trim() !== '' && !begins(lines, next) && !ITEM.test(line)
      if (!belongs && !goesOn) break
      own.push(line.slice(Math.min(width, indentOf(line))))
    }
    items.push(inside(own, depth))
    to = next
  }
  // Blank lines after the last item do not belong to the list.
  while (lines[to - 1].trim() === '') to -= 1
  const start = /^\d/.test(marker) ? Number.parseInt(marker, 10) : null
  return { block: { type: 'list', start, items }, to }
}

const isDelimiters = (line) => line.includes('-') && line.includes('|') && /^[ |:-]+$/.test(line)

const isTable = (lines, at) => lines[at].includes('|') && at + 1 < lines.length && isDelimiters(lines[at + 1])

function table(lines, at) {
  const align = cellsOf(lines[at + 1]).map((cell) => {
    if (!cell.endsWith(':')) return cell.startsWith(':') ? 'left' : null
    return cell.startsWith(':') ? 'center' : 'right'
  })
  let to = at + 2
  while (to < lines.length && lines[to].includes('|')) to += 1
  const rows = [lines[at], ...lines.slice(at + 2, to)].map((line) => {
    // Missing cells are not added: a table with many columns and many short rows would have millions of cells.
    return cellsOf(line)
      .slice(0, align.length)
      .map((cell) => parseInline(cell))
  })
  return { block: { type: 'table', align, rows }, to }
}

/** Splits a row at each `|`, but not at `\|`. */
function cellsOf(line) {
  const cells = ['']
  const words = line.trim()
  for (let i = 0; i < words.length; i += 1) {
    if (words[i] === '\\' && words[i + 1] === '|') {
      cells[cells.length - 1] += '|'
      i += 1
    } else if (words[i] === '|') cells.push('')
    else cells[cells.length - 1] += words[i]
  }
  if (words.startsWith('|')) cells.shift()
  if (cells.length > 1 && words.endsWith('|')) cells.pop()
  return cells.map((cell) => cell.trim())
}

/**
 * @param {string} text
 * @returns {Inline[]}
 */
export function parseInline(text) {
  const found = []
  const brackets = []
  /** Position of the last run of backticks of each length. A run after which no other follows is never closed. */
  const lastTicks = new Map()
  for (const { 0: ticks, index } of text.matchAll(/`+/g)) lastTicks.set(ticks.length, index)
  let plain = ''
  let at = 0

  const flush = () => {
    if (plain !== '') found.push({ type: 'text', text: plain })
    plain = ''
  }
  const push = (node) => {
    flush()
    found.push(node)
  }

  while (at < text.length) {
    const char = text[at]
    if (char === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1]
      at += 2
    } else if (char === '`') {
      const marks = runOf(text, at)
      const end = (lastTicks.get(marks) ?? -1) > at ? closingOf(text, at + marks, marks) : -1
      if (end < 0) {
        plain += text.slice(at, at + marks)
        at += marks
      } else {
        push({ type: 'code', text: withoutPadding(text.slice(at + marks, end)) })
        at = end + marks
      }
    } else if (char === '*' || char === '_' || char === '~') {
      const count = runOf(text, at)
      if (count > MAX_MARKS) plain += char.repeat(count)
      else push({ type: 'marks', char, count, length: count, ...sides(text, at, count) })
      at += count
    } else if (char === '[' || (char === '!' && text[at + 1] === '[')) {
      const mark = char === '[' ? '[' : '!['
      push({ type: 'text', text: mark })
      brackets.push(found.length - 1)
      if (brackets.length > MAX_OPEN) brackets.shift()
      at += mark.length
    } else if (char === ']') {
      const open = brackets.pop()
      const address = open === undefined ? null : addressAt(text, at + 1)
      const href = address === null ? null : linkHref(address.href)
      if (address === null) {
        plain += ']'
        at += 1
      } else if (href === null) {
        plain += text.slice(at, address.to)
        at = address.to
      } else {
        flush()
        const [mark, ...words] = found.splice(open)
        const link = { type: 'link', href, children: joined(emphasised(words)) }
        // Pictures are not loaded: the author of the address would learn that and when it is read.
        if (mark.text === '![') addAll(found, pictureLink(link, brackets.length > 0))
        else {
          found.push(link)
          brackets.length = 0
        }
        at = address.to
      }
    } else if (char === '<' || ((char === 'h' || char === 'H') && !/[\p{L}\p{N}]/u.test(text[at - 1] ?? ''))) {
      const link = bareAddress(text, at)
      if (link === null) {
        plain += char
        at += 1
      } else {
        const href = brackets.length > 0 ? null : linkHref(link.href)
        if (href === null) plain += text.slice(at, link.to)
        else push({ type: 'link', href, children: [{ type: 'text', text: link.href }] })
        at = link.to
      }
    } else {
      plain += char
      at += 1
    }
  }
  flush()
  return joined(emphasised(found))
}

function runOf(text, at) {
  let to = at
  while (text[to] === text[at]) to += 1
  return to - at
}

function closingOf(text, from, marks) {
  for (let at = text.indexOf('`', from); at >= 0; ) {
    const run = runOf(text, at)
    if (run === marks) return at
    at = text.indexOf('`', at + run)
  }
  return -1
}

function withoutPadding(code) {
  const isPadded = code.length > 2 && code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
  return isPadded ? code.slice(1, -1) : code
}

const isBlank = (char) => char === undefined || /\s/u.test(char)
const isSign = (char) => char !== undefined && /[\p{P}\p{S}]/u.test(char)

/** Says whether emphasis can begin or end here. */
function sides(text, at, count) {
  const before = text[at - 1]
  const after = text[at + count]
  const left = !isBlank(after) && (!isSign(after) || isBlank(before) || isSign(before))
  const right = !isBlank(before) && (!isSign(before) || isBlank(after) || isSign(after))
  if (text[at] !== '_') return { opens: left, closes: right }
  return { opens: left && (!right || isSign(before)), closes: right && (!left || isSign(after)) }
}

/** Reads `(address "title")`. The title is not shown. Null: there is none here. */
function addressAt(text, at) {
  if (text[at] !== '(') return null
  const rest = text.slice(at + 1, at + 1 + MAX_ADDRESS)
  // No blank may match in two ways, or many blanks would take time proportional to the square of their number.
  const found = /^ *(?! )(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?: +(?:"[^"\n]*" *|'[^'\n]*' *)?)?\)/.exec(
    rest,
  )
  if (found === null) return null
  return { href: (found[1] ?? found[2]).replaceAll(/\\([!-/:-@[-`{-~])/g, '$1'), to: at + 1 + found[0].length }
}

/** Reads `<https://…>`, or a plain address in the text. */
function bareAddress(text, at) {
  const rest = text.slice(at, at + MAX_ADDRESS)
  const marked = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/i.exec(rest)
  if (marked !== null) return { href: marked[1], to: at + marked[0].length }
  const bare = /^https?:\/\/[^\s<>"`|]+/i.exec(rest)?.[0]
  if (bare === undefined) return null
  // Punctuation at the end belongs to the sentence.
  const marks = bare.includes('(') ? /[.,:;!?'*_~\]}]/ : /[.,:;!?'*_~\]})]/
  let end = bare.length
  while (marks.test(bare[end - 1])) end -= 1
  return { href: bare.slice(0, end), to: at + end }
}

/** Only web and mail addresses become links. Everything else is text. */
function linkHref(address) {
  if (!URL.canParse(address)) return null
  const { protocol, href } = new URL(address)
  return ['http:', 'https:', 'mailto:'].includes(protocol) ? href : null
}

function pictureLink({ href, children }, isInLink) {
  const name = children.length > 0 ? children : [{ type: 'text', text: href }]
  const words = [{ type: 'text', text: 'Picture: ' }, ...name]
  return isInLink ? words : [{ type: 'link', href, children: joined(words) }]
}

/** Pairs the emphasis marks. A mark without a partner is text. */
function emphasised(nodes) {
  const frames = [{ marks: null, children: [] }]
  const top = () => frames[frames.length - 1]
  const asText = ({ char, count }) => ({ type: 'text', text: char.repeat(count) })
  const unwind = (length) => {
    while (frames.length > length) {
      const { marks, children } = frames.pop()
      top().children.push(asText(marks))
      addAll(top().children, children)
    }
  }
  for (const node of nodes) {
    if (node.type !== 'marks') {
      top().children.push(node)
      continue
    }
    const marks = { ...node }
    const least = marks.char === '~' ? 2 : 1
    while (marks.closes && marks.count >= least) {
      const partner = frames.findLastIndex(
        (frame) =>
          frame.marks?.char === marks.char &&
          frame.marks.count >= least &&
          // `*a**b*`: marks that can both begin and end do not pair with every length.
          !(
            (marks.opens || frame.marks.closes) &&
            (marks.length + frame.marks.length) % 3 === 0 &&
            marks.length % 3 !== 0
          ),
      )
      if (partner < 1) break
      unwind(partner + 1)
      const opener = top()
      const used = marks.count > 1 && opener.marks.count > 1 ? 2 : least
      const type = marks.char === '~' ? 'del' : used === 2 ? 'strong' : 'em'
      const made = { type, children: joined(opener.children) }
      marks.count -= used
      opener.marks.count -= used
      if (opener.marks.count > 0) opener.children = [made]
      else {
        frames.pop()
        top().children.push(made)
      }
    }
    if (marks.count === 0) continue
    if (marks.opens && marks.count >= least && frames.length <= MAX_OPEN) frames.push({ marks, children: [] })
    else top().children.push(asText(marks))
  }
  unwind(1)
  return frames[0].children
}

/** Not `push(...)`: a single call cannot take very many arguments. */
function addAll(list, more) {
  for (const one of more) list.push(one)
}

/** Joins neighbouring pieces of text. */
function joined(nodes) {
  const all = []
  for (const node of nodes) {
    const last = all.at(-1)
    if (node.type === 'text' && last?.type === 'text')
      all[all.length - 1] = { type: 'text', text: last.text + node.text }
    else all.push(node)
  }
  return all
}
