// Formulas in TeX as MathML. A chunk of its own: it is loaded with the first formula.
//
// The library makes a tree, and only elements, attributes and styles that are listed here reach the page, as React elements: no HTML, no
// link, no picture, no colour that hides something, no size that grows without end.

import { createElement, type ReactNode } from 'react'
import temml from 'temml'
import { markHidden } from '../hidden-marks.ts'

interface TreeNode {
  type?: string
  attributes?: Record<string, string>
  style?: Record<string, string>
  classes?: readonly string[]
  children?: readonly TreeNode[]
  text?: string
}

const LONGEST = 2_000
const MOST_NODES = 600
const DEEPEST = 60

const ELEMENTS: ReadonlySet<string> = new Set(
  'math mrow mi mn mo mtext mspace msup msub msubsup munder mover munderover mfrac msqrt mroot mtable mtr mtd mstyle mpadded mphantom menclose mprescripts mmultiscripts none'.split(
    ' ',
  ),
)
const ATTRIBUTES: ReadonlySet<string> = new Set(
  'display movablelimits width height depth voffset lspace rspace scriptlevel displaystyle stretchy minsize maxsize linethickness accent accentunder fence separator form largeop symmetric mathvariant notation'.split(
    ' ',
  ),
)
const STYLES =
  /^(?:padding(?:Left|Right|Top|Bottom)?|border(?:Left|Right|Top|Bottom)?|width|textAlign|mathStyle|mathDepth)$/
/** These stand between the parts of a formula for whoever has it read aloud, and are meant to be unseen. */
const UNSEEN_OPERATORS = /[\u2061-\u2064]/g

/** Null: it is no formula, too large, or hides something. */
export function drawFormula(tex: string, isBlock: boolean): ReactNode | null {
  if (tex.length > LONGEST || markHidden(tex) !== tex) return null
  let left = MOST_NODES
  function draw(node: TreeNode, key: number, depth: number): ReactNode {
    left -= 1
    if (left < 0 || depth > DEEPEST) throw new RangeError('The formula is too large.')
    if (node.text !== undefined) {
      const seen = node.text.replace(UNSEEN_OPERATORS, '')
      if (markHidden(seen) !== seen) throw new RangeError('The formula hides something.')
      return node.text
    }
    const children = (node.children ?? []).map((child, i) => draw(child, i, depth + 1))
    // A group without an element of its own.
    if (node.type === undefined) return createElement('mrow', { key }, ...children)
    if (!ELEMENTS.has(node.type)) throw new RangeError('The formula has an unknown part.')
    const props = Object.entries(node.attributes ?? {}).filter(([name]) => ATTRIBUTES.has(name))
    const style = Object.fromEntries(Object.entries(node.style ?? {}).filter(([name]) => STYLES.test(name)))
    if (node.classes?.includes('tml-right')) style.textAlign = 'right'
    if (node.classes?.includes('tml-left')) style.textAlign = 'left'
    return createElement(node.type, { key, style, ...Object.fromEntries(props) }, ...children)
  }
  try {
    const options = {
      displayMode: isBlock,
      throwOnError: true,
      trust: false,
      maxExpand: 200,
      maxSize: [10, 20] as [number, number],
    }
    return draw(temml.__renderToMathMLTree(tex, options), 0, 0)
  } catch {
    // TeX that is wrong stays as it was written.
    return null
  }
}
