import { useMutation } from '@tanstack/react-query'
import type { ValidatedAgent } from 'quarterdeck/client'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { useHistoryState } from 'wouter/use-browser-location'
import { useKeys } from '../../app/Keys.tsx'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Button } from '../../parts/Button.tsx'
import { TextArea } from '../../parts/Field.tsx'
import { Panel } from '../../parts/Page.tsx'
import { Failed, Loading } from '../../parts/States.tsx'
import { byteWord, counted } from '../../words.ts'
import styles from './CheckFile.module.css'
import type { YamlHandle } from './YamlView.tsx'

// It is as large as all the rest of a page, and there is nothing to show before the check.
const YamlView = lazy(() => import('./YamlView.tsx'))

/** The server takes no longer text. */
const MOST_BYTES = 256 * 1024

/** Checks a pasted text against the schema of agent files. Nothing is saved, opened or started. */
export default function CheckFile() {
  const client = useClient()
  const isLive = useIsLive()
  const [text, setText] = useState(useTextFromFile())
  const check = useMutation({ mutationFn: (value: string) => client.validateAgent(value) })
  const view = useRef<YamlHandle>(null)
  const place = useRef<HTMLDivElement>(null)
  const bytes = new TextEncoder().encode(text).length
  const problem = bytes > MOST_BYTES ? `This is ${byteWord(bytes)}. A file has at most 256 KB.` : null
  const canCheck = isLive && problem === null && text.trim() !== ''
  const run = () => canCheck && !check.isPending && check.mutate(text)
  useKeys([{ keys: 'mod+Enter', name: 'Check the text', group: 'Agents', run, isGlobal: true }])

  const hadResult = useRef(false)
  // The focus goes to the result, and from there back to the text.
  useEffect(() => {
    const hasResult = check.data !== undefined
    if (hasResult !== hadResult.current) {
      place.current?.querySelector<HTMLElement>(hasResult ? '[data-result]' : 'textarea')?.focus()
    }
    hadResult.current = hasResult
  }, [check.data])

  if (check.data === undefined) {
    return (
      <div ref={place} className={styles.check}>
        <p className={styles.about}>
          Paste the text of an agent file. It is checked against the schema alone: no file is opened, no variable is
          read, nothing is started or saved.
        </p>
        <div className={styles.area}>
          <TextArea
            label="Text of the file"
            isLabelHidden
            placeholder={'name: assistant\nmodel:\n  provider: demo\ninstructions: Be brief.'}
            spellCheck={false}
            autoCapitalize="off"
            value={text}
            onChange={({ target }) => setText(target.value)}
            problem={problem}
            help={`${byteWord(bytes)} of 256 KB`}
          />
        </div>
        <div className={styles.actions}>
          <Button kind="primary" disabled={!canCheck} isBusy={check.isPending} onClick={run}>
            Check
          </Button>
        </div>
        {check.error !== null && <Failed error={check.error} onRetry={run} />}
      </div>
    )
  }
  const { ok, problems } = check.data
  return (
    <div ref={place} className={styles.check}>
      <div tabIndex={-1} data-result="" role="status">
        <Notice tone={ok ? 'good' : 'bad'}>
          <p>
            {ok
              ? 'The text fits the schema. Whether its files, variables and servers are there shows when it is started.'
              : `${counted(problems.length, 'problem')}. Press one to see its line.`}
          </p>
        </Notice>
      </div>
      {!ok && <ProblemList problems={problems} onShow={(line, column) => view.current?.show(line, column)} />}
      <Panel title="Text" actions={<Button onClick={check.reset}>Change the text</Button>} isFlush>
        <Suspense fallback={<Loading rows={1} height={240} />}>
          <YamlView ref={view} text={text} label="Text that was checked" problems={problems} />
        </Suspense>
      </Panel>
    </div>
  )
}

/** The text that the page of an agent has handed over. */
function useTextFromFile(): string {
  const state = useHistoryState<unknown>()
  return typeof state === 'object' && state !== null && 'text' in state && typeof state.text === 'string'
    ? state.text
    : ''
}

interface ProblemListProps {
  problems: ValidatedAgent['problems']
  onShow: (line: number, column: number) => void
}

/** What is wrong with a text. A press on a problem leads to its line. */
function ProblemList({ problems, onShow }: ProblemListProps) {
  return (
    <ol className={styles.list}>
      {problems.map(({ line, column, path, message }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
        <li key={i}>
          <button type="button" className={styles.problem} onClick={() => onShow(line, column)}>
            <span className={styles.line}>
              Line {line}, column {column}
            </span>
            <span>
              {path !== '' && (
                <code>
                  <bdi>{path}</bdi>
                </code>
              )}{' '}
              <bdi>{message}</bdi>
            </span>
          </button>
        </li>
      ))}
    </ol>
  )
}
