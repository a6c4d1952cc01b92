import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { AgentTests, TestCaseEvent, TestsDone } from 'quarterdeck/client'
import { useEffect, useRef, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useIsLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { announce } from '../../parts/Announcer.tsx'
import { Notice } from '../../parts/approval/Notice.tsx'
import { Badge, type Tone } from '../../parts/Badge.tsx'
import { Button, IconButton } from '../../parts/Button.tsx'
import { Command } from '../../parts/Command.tsx'
import { DataTable } from '../../parts/DataTable.tsx'
import { DoneIcon, PlayIcon, StopIcon } from '../../parts/icons.ts'
import { Panel } from '../../parts/Page.tsx'
import { Empty, Failed, How, Pending } from '../../parts/States.tsx'
import { duration, Time } from '../../parts/Time.tsx'
import { VisibleText } from '../../parts/VisibleText.tsx'
import { counted, fullCount } from '../../words.ts'
import styles from './TestCases.module.css'

/** The test cases of an agent: run them all or one, and see results as they come. */
export function TestCases({ agent }: { agent: string }) {
  const client = useClient()
  const isLive = useIsLive()
  const cases = useQuery({
    queryKey: ['agents', agent, 'tests'],
    queryFn: ({ signal }) => client.agents.tests(agent, { signal }),
  })
  const tests = useTestRun(agent)
  const { data } = cases
  if (data === undefined) return <Pending query={cases} rows={4} height={56} />
  if (data.cases.length === 0) {
    return (
      <Empty title="No test cases" icon={<DoneIcon />}>
        <p>
          Write them under <code>test_cases</code> in the agent’s file: what a user says, and what must happen. From the
          terminal:
        </p>
        <Command>test</Command>
        <How to="test-an-agent" />
      </Empty>
    )
  }
  const { results, isRunning, run } = tests
  const failing = data.cases.filter(({ failing_since }) => failing_since !== null)
  return (
    <>
      {tests.error !== null && <Failed error={tests.error} />}
      {results.done !== null && (
        <div role="status">
          <Notice tone={results.done.passed === results.done.total ? 'good' : 'bad'}>
            <p>
              {resultWords(results.done)}, in {duration(results.done.duration_ms)}.
            </p>
          </Notice>
        </div>
      )}
      {failing.length > 0 && <Failures cases={failing} />}
      <Panel
        title="Test cases"
        actions={
          isRunning ? (
            <Button icon={<StopIcon />} onClick={tests.stopAll}>
              Stop
            </Button>
          ) : (
            <Button kind="primary" icon={<PlayIcon />} disabled={!isLive} onClick={() => void run(null)}>
              Run all
            </Button>
          )
        }
        isFlush
      >
        <ul>
          {data.cases.map((one) => (
            <li key={one.name} className={styles.case}>
              <Case
                tested={one}
                result={results.cases[one.name]}
                canRun={isLive && !isRunning}
                onRun={() => void run([one.name])}
              />
            </li>
          ))}
        </ul>
      </Panel>
      <p className={styles.note}>
        They run with the real model and the real tools, beside the server, and nobody is asked. Of each case the last
        ten results are kept. Who leaves this tab stops them.
      </p>
    </>
  )
}

type Tested = AgentTests['cases'][number]

/** The cases that do not pass: what was expected, what came, and since when. */
function Failures({ cases }: { cases: readonly Tested[] }) {
  return (
    <Panel title={`${counted(cases.length, 'case')} ${cases.length === 1 ? 'does' : 'do'} not pass`} isFlush>
      <DataTable
        label="Cases that do not pass"
        rows={cases}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Case', cell: ({ name }) => <VisibleText text={name} inline isRaw /> },
          { name: 'Expected', cell: ({ findings }) => <Found texts={findings.map(({ expected }) => expected)} /> },
          // The case below has it too.
          { name: 'Came', cell: ({ findings }) => <Found texts={findings.map(({ found }) => found)} />, isMinor: true },
          {
            name: 'Since',
            cell: ({ failing_since: at }) => (at === null ? '' : <Time at={at} />),
            isNumber: true,
          },
        ]}
      />
    </Panel>
  )
}

const Found = ({ texts }: { texts: readonly string[] }) =>
  texts.map((text, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
    <p key={i} className={styles.found}>
      <VisibleText text={text} inline isRaw />
    </p>
  ))

/** The last results of a case as marks, the newest at the end. */
function Past({ results }: { results: Tested['results'] }) {
  if (results.length === 0) return null
  const words = results.map(({ outcome }) => outcomes[outcome][0])
  return (
    <p className={styles.past} title={`Newest first: ${words.join(', ')}`}>
      <span className="unseen">Results, newest first: {words.join(', ')}</span>
      {results.toReversed().map(({ at, outcome }) => (
        <span key={at} data-outcome={outcome} aria-hidden="true" />
      ))}
      <span className={styles.needs}>
        last run <Time at={results[0]?.at ?? ''} />
      </span>
    </p>
  )
}

/** Runs cases. Leaving stops them. */
function useTestRun(agent: string) {
  const client = useClient()
  const queries = useQueryClient()
  const [results, setResults] = useState(NO_RESULTS)
  const [error, setError] = useState<unknown>(null)
  const [isRunning, setRunning] = useState(false)
  const abort = useRef<AbortController | null>(null)
  useEffect(() => () => abort.current?.abort(), [])

  async function run(cases: readonly string[] | null): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    abort.current = controller
    setRunning(true)
    setError(null)
    setResults((was) => begin(was, cases))
    try {
      for await (const event of client.agents.runTests(agent, { signal, ...given({ cases }) })) {
        setResults((was) => take(was, event))
      }
    } catch (problem) {
      if (signal.aborted) announce('Stopped')
      else setError(problem)
      setResults(stop)
    } finally {
      setRunning(false)
      void queries.invalidateQueries({ queryKey: ['agents', agent, 'tests'] })
    }
  }
  return { results, error, isRunning, run, stopAll: () => abort.current?.abort() }
}

const outcomes: Readonly<Record<TestCaseEvent['outcome'], readonly [word: string, tone: Tone]>> = {
  running: ['Running', 'accent'],
  passed: ['Passed', 'good'],
  failed: ['Failed', 'bad'],
  error: ['Could not run', 'bad'],
  stopped: ['Stopped', 'neutral'],
}

/** What of the answer is looked at. */
const checkWords: Readonly<Record<string, string>> = {
  contains: 'the answer has certain words',
  not_contains: 'the answer does not have certain words',
  regex: 'the answer fits a pattern',
  json_schema: 'the answer is JSON of a certain form',
  similarity: 'the answer is like a given one',
  judge: 'a model judges the answer',
}

interface CaseProps {
  tested: Tested
  result: TestCaseEvent | undefined
  canRun: boolean
  onRun: () => void
}

function Case({ tested: { name, turns, tools, checks, results }, result, canRun, onRun }: CaseProps) {
  const [word, tone] = result === undefined ? [null, 'neutral' as Tone] : outcomes[result.outcome]
  const needs = [...tools.map((tool) => `calls ${tool}`), ...checks.map((check) => checkWords[check] ?? check)]
  return (
    <>
      <div className={styles.head}>
        <IconButton label={`Run ${name}`} icon={<PlayIcon />} disabled={!canRun} onClick={onRun} />
        <div className={styles.what}>
          <h3>
            <bdi>{name}</bdi>
          </h3>
          {turns.map((turn, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
            <p key={i} className={styles.turn} dir="auto">
              {turn}
            </p>
          ))}
          {needs.length > 0 && (
            <p className={styles.needs}>
              <bdi>{needs.join(' · ')}</bdi>
            </p>
          )}
          <Past results={results} />
        </div>
        <div className={styles.outcome}>
          {word !== null && <Badge tone={tone}>{word}</Badge>}
          {result !== undefined && result.outcome !== 'running' && (
            <span className={styles.needs}>
              {duration(result.duration_ms)} · {fullCount(result.tokens.input + result.tokens.output)} tokens
            </span>
          )}
        </div>
      </div>
      {result !== undefined && result.outcome !== 'running' && <Result key={result.outcome} result={result} />}
    </>
  )
}

function Result({ result: { outcome, findings, answer, calls } }: { result: TestCaseEvent }) {
  return (
    <div className={styles.result}>
      {findings.map(({ check, expected, found }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
        <dl key={i} className={styles.finding}>
          <dt>{check}</dt>
          <dd dir="auto">expected {expected}</dd>
          <dd dir="auto">found {found}</dd>
        </dl>
      ))}
      {(answer !== '' || calls.length > 0) && (
        <details open={outcome !== 'passed'}>
          <summary>Answer{calls.length > 0 && ' and calls'}</summary>
          {calls.map(({ name, arguments: args }, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a list that never changes
            <pre key={i} className={styles.text}>
              {name} {JSON.stringify(args)}
            </pre>
          ))}
          <p className={styles.text} dir="auto">
            {answer}
          </p>
        </details>
      )}
    </div>
  )
}

/** The results of a run of test cases, as they come in. */
interface TestResults {
  cases: Readonly<Record<string, TestCaseEvent>>
  done: TestsDone | null
}

export const NO_RESULTS: TestResults = { cases: {}, done: null }

/** Cases that run again lose their old result. The others keep theirs. */
export function begin({ cases }: TestResults, again: readonly string[] | null): TestResults {
  if (again === null) return NO_RESULTS
  return { cases: Object.fromEntries(Object.entries(cases).filter(([name]) => !again.includes(name))), done: null }
}

export function take(results: TestResults, event: TestCaseEvent | TestsDone): TestResults {
  if (event.type === 'done') return { ...results, done: event }
  return { ...results, cases: { ...results.cases, [event.name]: event } }
}

/** The stream has ended before its time: what still ran has no result. */
export const stop = ({ cases }: TestResults): TestResults => ({
  cases: Object.fromEntries(
    Object.entries(cases).map(([name, one]) => [
      name,
      one.outcome === 'running' ? { ...one, outcome: 'stopped' as const } : one,
    ]),
  ),
  done: null,
})

/** `3 passed, 1 failed`. */
export function resultWords({ passed, failed, errors, stopped }: TestsDone): string {
  const parts = [
    [passed, 'passed'],
    [failed, 'failed'],
    [errors, 'could not run'],
    [stopped, 'stopped'],
  ] as const
  const words = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return words.length === 0 ? 'No case ran' : words.join(', ')
}
