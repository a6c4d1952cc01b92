// What React calls for each `<tag>` of the console (`vite.config.ts` puts it there). Text on the page may come from an agent, a model, a
// tool, a program or a user, and no page has to think of it: whatever becomes text, a label or a tooltip shows its hidden characters.

import { Fragment, jsx as make, jsxs as makeMany } from 'react/jsx-runtime'
import { markHidden } from './hidden-marks.ts'

/** What people read or hear of an element besides its text. A field's value is theirs to write and stays as it is. */
const READ = ['alt', 'aria-label', 'aria-valuetext', 'label', 'placeholder', 'title']

type Props = Record<string, unknown>

function shown(type: unknown, props: Props): Props {
  // A component gets what it was given: it may compare it, copy it or send it back.
  if (typeof type === 'function' || isLater(type)) return props
  let next = props
  const set = (name: string, value: unknown): void => {
    if (next === props) next = { ...props }
    next[name] = value
  }
  const children = shownChildren(props.children)
  if (children !== props.children) {
    set('children', children)
    // Its text would be what is chosen.
    if (type === 'option' && props.value === undefined) set('value', props.children)
  }
  if (typeof type !== 'string' && !isForwarded(type)) return next
  for (const name of READ) {
    const text = props[name]
    if (typeof text !== 'string') continue
    const marked = markHidden(text)
    if (marked !== text) set(name, marked)
  }
  return next
}

const has = (type: unknown, name: string): boolean => typeof type === 'object' && type !== null && name in type

/** What `memo` and `lazy` make is a component; a context is not. */
const isLater = (type: unknown): boolean => has(type, 'compare') || has(type, '_init')

/** A link of the router. It becomes an element in the code of the router, which does not come through here. */
const isForwarded = (type: unknown): boolean => has(type, 'render')

function shownChildren(children: unknown): unknown {
  if (typeof children === 'string') return markHidden(children)
  if (!Array.isArray(children)) return children
  const marked = children.map(shownChildren)
  return marked.some((child, i) => child !== children[i]) ? marked : children
}

export { Fragment }
export const jsx: typeof make = (type, props, key) => make(type, shown(type, props as Props), key)
export const jsxs: typeof makeMany = (type, props, key) => makeMany(type, shown(type, props as Props), key)
