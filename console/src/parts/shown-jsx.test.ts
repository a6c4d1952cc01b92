// Everything that becomes text on the page goes through `shown-jsx.ts`, or is on the short list below with the reason why it need not.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { expect, test } from 'vitest'
import { Link } from 'wouter'
import { jsx, jsxs } from './shown-jsx.ts'

const src = join(import.meta.dirname, '..')
const ROGUE = 'a\u202eb'
const SEEN = 'a<U+202E>b'

test('hidden characters show in texts, labels and tooltips of elements', () => {
  const { props } = jsx('button', { title: ROGUE, 'aria-label': ROGUE, value: ROGUE, children: ROGUE }, undefined)
  expect(props).toEqual({ title: SEEN, 'aria-label': SEEN, value: ROGUE, children: SEEN })
  expect(jsxs('p', { children: ['x', [ROGUE], 3] }, undefined).props).toEqual({ children: ['x', [SEEN], 3] })
})

test('a link of the router shows them too: it becomes an element that is made elsewhere', () => {
  const { props } = jsx(Link, { href: '/x', title: ROGUE, children: ROGUE }, undefined)
  expect(props).toEqual({ href: '/x', title: SEEN, children: SEEN })
})

test('what is chosen in a list stays what it is, and a component gets what it was given', () => {
  expect(jsx('option', { children: ROGUE }, undefined).props).toEqual({ children: SEEN, value: ROGUE })
  expect(jsx(() => null, { children: ROGUE }, undefined).props).toEqual({ children: ROGUE })
})

/** Ways around it, by file. Each has a reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'app/title.ts document.title': 'it marks what pages give it',
  'base.ts setAttribute': 'the address of an icon, which the page has already',
  'sign-in/SignInPage.tsx document.title': 'a fixed text',
  'pages/audit/ChainState.tsx returns text': 'numbers and words of ours',
  'pages/settings/devices/AddDevice.tsx returns list': 'an element',
  'parts/markdown/draw-formula.ts createElement': 'it marks the text of a formula before it is laid out',
  'parts/save-file.ts createElement': 'a link that is never in the page',
  'parts/ProseText.tsx returns text': 'it is one of the functions that show text',
}

/** Names that put text into the page without React. */
const ASSIGNED = ['textContent', 'innerText', 'innerHTML', 'outerHTML', 'nodeValue', 'outerText', 'srcdoc', 'ariaLabel']
const CALLED = [
  ...['createElement', 'createTextNode', 'setAttribute', 'insertAdjacentText', 'insertAdjacentHTML', 'replaceChildren'],
  ...['cloneElement', 'createPortal', 'setRangeText', 'write', 'writeln'],
]

interface Node {
  type: string
  [key: string]: unknown
}
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void, parents: readonly Node[] = []): void {
  visit(node, parents)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) walk(child, visit, [...parents, node])
  }
}

const nameOf = (node: unknown): string => {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return nameOf(node.property)
  return typeof node.name === 'string' ? node.name : ''
}

/** A component that returns a text: React puts it into the page as it is. */
function returnsText(node: Node): boolean {
  if (node.type === 'ConditionalExpression')
    return [node.consequent, node.alternate].some((one) => isNode(one) && returnsText(one))
  if (node.type === 'LogicalExpression') return isNode(node.right) && returnsText(node.right)
  if (node.type === 'TemplateLiteral' || node.type === 'MemberExpression') return true
  return node.type === 'Identifier' && !['children', 'undefined'].includes(nameOf(node))
}

function waysAround(file: string, code: string): string[] {
  const found: string[] = []
  walk(parseSync(file, code).program as unknown as Node, (node, parents) => {
    if (node.type === 'AssignmentExpression' && isNode(node.left) && node.left.type === 'MemberExpression') {
      const name = nameOf(node.left)
      if (ASSIGNED.includes(name)) found.push(name)
      if (name === 'title' && nameOf(node.left.object) === 'document') found.push('document.title')
    }
    if (node.type === 'CallExpression' && CALLED.includes(nameOf(node.callee))) found.push(nameOf(node.callee))
    if (node.type === 'JSXAttribute' && isNode(node.name) && nameOf(node.name) === 'dangerouslySetInnerHTML')
      found.push('dangerouslySetInnerHTML')
    if (node.type === 'ImportDeclaration' && isNode(node.source) && String(node.source.value).includes('jsx-runtime'))
      found.push('jsx-runtime')
    // `return text`, or an arrow function that is nothing else.
    const given = node.type === 'ReturnStatement' ? node.argument : node.type === 'ArrowFunctionExpression' && node.body
    if (file.endsWith('.tsx') && isNode(given) && returnsText(given)) {
      const all = [...parents, node]
      const at = all.findLastIndex(({ type }) => /Function/.test(type))
      const name = nameOf(all[at]?.id) || nameOf(all[at - 1]?.id)
      if (/^[A-Z]/.test(name)) found.push(`returns ${nameOf(given) || 'text'}`)
    }
  })
  return found
}

test('no text reaches the page but through it', () => {
  const files = globSync('**/*.{ts,tsx}', { cwd: src }).filter(
    (name) => !name.includes('.test.') && !name.endsWith('shown-jsx.ts'),
  )
  const found = files.flatMap((file) =>
    waysAround(file, readFileSync(join(src, file), 'utf8')).map((what) => `${file} ${what}`),
  )

  expect(files.length).toBeGreaterThan(250)
  expect([...new Set(found)].toSorted()).toEqual(Object.keys(ALLOWED).toSorted())
})

test('it is the check that finds them', () => {
  const wrong = `import { jsx } from 'react/jsx-runtime'
    export function Name({ text }) { useEffect(() => { ref.current.textContent = text; document.title = text }); return isShort ? text : <b dangerouslySetInnerHTML={{ __html: text }} /> }`
  expect(waysAround('x.tsx', wrong)).toEqual([
    'jsx-runtime',
    'textContent',
    'document.title',
    'returns text',
    'dangerouslySetInnerHTML',
  ])
  const short = `const Name = ({ agent }) => agent.name
    const Text = ({ text }) => { return text }`
  expect(waysAround('x.tsx', short)).toEqual(['returns name', 'returns text'])
})
