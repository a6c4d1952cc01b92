import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState, type Text } from '@codemirror/state'
import { EditorView, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import styles from './YamlView.module.css'

export interface TextProblem {
  line: number
  column: number
  message: string
}

export interface YamlHandle {
  /** Brings a line into sight and marks it. */
  show(line: number, column: number): void
}

interface YamlViewProps {
  text: string
  label: string
  /** Left out: the text was not checked. */
  problems?: readonly TextProblem[]
  ref?: Ref<YamlHandle>
}

/**
 * A YAML text to read, with problems at their lines. Only the lines in sight are in the page. The editor stands in a shadow root:
 * there it sets its styles through an interface that the policy of the pages allows. `Tab` goes on to what comes after it.
 */
export default function YamlView({ text, label, problems, ref }: YamlViewProps) {
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const isChecked = problems !== undefined
  useEffect(() => {
    const host = place.current
    if (host === null) return
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    const state = EditorState.create({ doc: text, extensions: extensionsFor(label, isChecked) })
    const made = new EditorView({ state, root, parent: root })
    view.current = made
    return () => {
      made.destroy()
      view.current = null
    }
  }, [text, label, isChecked])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new text is a new view, which must be told the problems again
  useEffect(() => {
    const { current } = view
    if (current === null || problems === undefined) return
    const { doc } = current.state
    current.dispatch(
      setDiagnostics(
        current.state,
        problems.map((problem) => diagnosticOf(doc, problem)),
      ),
    )
  }, [text, label, problems])
  useImperativeHandle(ref, () => ({
    show(line, column) {
      const { current } = view
      if (current === null) return
      const at = placeOf(current.state.doc, line, column)
      const end = current.state.doc.lineAt(at).to
      current.dispatch({
        selection: { anchor: at, head: end },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      })
      current.contentDOM.focus({ preventScroll: true })
      place.current?.scrollIntoView({ block: 'nearest' })
    },
  }))
  return <div ref={place} className={styles.place} />
}

/** The server may count a line that the text does not have, such as one after its end. */
function placeOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(doc.lines, Math.max(1, line)))
  return Math.min(to, from + Math.max(0, column - 1))
}

function diagnosticOf(doc: Text, { line, column, message }: TextProblem): Diagnostic {
  const from = placeOf(doc, line, column)
  return { from, to: doc.lineAt(from).to, severity: 'error', message }
}

/** The tokens reach into the shadow root, so both themes work without a word here. */
const look = EditorView.theme({
  '&': {
    fontSize: 'var(--text-s)',
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    maxHeight: '70vh',
    isolation: 'isolate',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.6', overflow: 'auto' },
  '.cm-content': { padding: 'var(--space-3) 0' },
  '.cm-line': { padding: '0 var(--space-4) 0 var(--space-2)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-faint)', border: '0' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 var(--space-2) 0 var(--space-3)' },
  '& .cm-line ::selection, & .cm-line::selection': { backgroundColor: 'var(--mark)', color: 'var(--on-mark)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface-float)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    fontFamily: 'var(--font)',
  },
})

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: tags.comment, color: 'var(--text-faint)' },
  { tag: [tags.meta, tags.typeName, tags.labelName], color: 'var(--good)' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--text-soft)' },
])

const extensionsFor = (label: string, isChecked: boolean) => [
  lineNumbers(),
  isChecked ? lintGutter() : [],
  yaml(),
  look,
  syntaxHighlighting(colours),
  EditorView.lineWrapping,
  EditorState.readOnly.of(true),
  EditorView.editable.of(false),
  EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' }),
]
