import { type Agent, ClientError } from 'quarterdeck/client'
import { useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { isRecord } from '../../../../src/domain/is-record.ts'
import { useKeys } from '../../app/Keys.tsx'
import { useTitle } from '../../app/title.ts'
import { useIsLive } from '../../data/use-live.tsx'
import { AsOf } from '../../parts/AsOf.tsx'
import { BackLink } from '../../parts/BackLink.tsx'
import { Badge } from '../../parts/Badge.tsx'
import { Button } from '../../parts/Button.tsx'
import { AgentIcon, ChatIcon } from '../../parts/icons.ts'
import { Fact, Page, Panel } from '../../parts/Page.tsx'
import { Empty, Pending } from '../../parts/States.tsx'
import { Tabs } from '../../parts/Tabs.tsx'
import { AgentFigures } from './AgentFigures.tsx'
import { AgentFile } from './AgentFile.tsx'
import styles from './AgentPage.module.css'
import { Documents } from './Documents.tsx'
import { McpSignIns } from './McpSignIns.tsx'
import { SkillList } from './SkillList.tsx'
import { TestCases } from './TestCases.tsx'
import { ToolList } from './ToolList.tsx'
import { TryModel } from './TryModel.tsx'
import { useAgent, workerOf } from './use-agents.ts'

/** One agent: what it is, its tools, its file and its test cases. */
export function AgentPage({ name }: { name: string }) {
  useTitle(name)
  const query = useAgent(name)
  const { data, dataUpdatedAt } = query
  const [params] = useSearchParams()
  const [, go] = useLocation()
  const isLive = useIsLive()
  const [isTrying, setTrying] = useState(false)
  useKeys([{ keys: 'Escape', name: 'Back to all agents', group: 'Agents', run: () => go('/agents') }])
  const at = (id: string) => `/agents/${encodeURIComponent(name)}${id === 'tools' ? '' : `?tab=${id}`}`
  const tabs = [
    { id: 'tools', name: 'Overview', href: at('tools') },
    { id: 'file', name: 'File', href: at('file') },
    { id: 'tests', name: 'Test cases', href: at('tests'), count: data?.tests ?? 0 },
  ]
  const tab = tabs.find(({ id }) => id === params.get('tab'))?.id ?? 'tools'
  return (
    <Page
      title={
        <span className={styles.title}>
          <BackLink href="/agents" name="Back to all agents" />
          <bdi>{name}</bdi>
          {data?.is_default === true && <Badge tone="accent">Default</Badge>}
        </span>
      }
      actions={
        data !== undefined && (
          <>
            {data.model !== null && <Button onClick={() => setTrying(true)}>Try another model</Button>}
            <Button icon={<ChatIcon />} onClick={() => go(`/chat?agent=${encodeURIComponent(name)}`)}>
              Chat
            </Button>
          </>
        )
      }
      bar={<Tabs label="Agent" tabs={tabs} current={tab} />}
    >
      {data === undefined ? (
        <Missing name={name} query={query} />
      ) : (
        <AsOf isLive={isLive} at={dataUpdatedAt}>
          {tab === 'tools' && (
            <>
              <About agent={data} />
              <McpSignIns agent={name} />
              <Documents agent={name} />
              <AgentFigures agent={name} />
              {data.skills.length > 0 && <SkillList skills={data.skills} />}
              {data.host === null && <ToolList tools={data.tools} />}
            </>
          )}
          {tab === 'file' && <AgentFile source={data.source} />}
          {tab === 'tests' && <TestCases agent={name} />}
          {isTrying && <TryModel agent={data} onClose={() => setTrying(false)} />}
        </AsOf>
      )}
    </Page>
  )
}

function Missing({ name, query }: { name: string; query: ReturnType<typeof useAgent> }) {
  const { error } = query
  if (error instanceof ClientError && error.code === 'agent_not_found') {
    return (
      <Empty title="This server has no such agent" icon={<AgentIcon />}>
        <p>
          Nothing here is called <bdi>{name}</bdi>. It may have been renamed, or it runs elsewhere.
        </p>
        <Link href="/agents">All agents</Link>
      </Empty>
    )
  }
  return <Pending query={query} height={[138, 226, 400]} />
}

function About({ agent }: { agent: Agent }) {
  const { description, host, capabilities, suggestions } = agent
  const can = capabilityWords(capabilities)
  return (
    <Panel>
      <dl className={styles.about}>
        {description !== '' && (
          <div>
            <dt>For</dt>
            <dd dir="auto">{description}</dd>
          </div>
        )}
        <Fact name={host === null ? 'Model' : 'Program'}>
          <bdi title={host?.workspace ?? undefined}>{workerOf(agent)}</bdi>
        </Fact>
        {host !== null && <Fact name="Writes">{writesWords[host.writes]}</Fact>}
        {host !== null && (
          <Fact name="Sandbox">
            {host.unconfined ? (
              <Badge tone="bad">Unconfined: runs without a sandbox</Badge>
            ) : host.network ? (
              'Yes, with a network'
            ) : (
              'Yes, without a network'
            )}
          </Fact>
        )}
        {can.length > 0 && (
          <div>
            <dt>Can</dt>
            <dd className={styles.words}>
              {can.map((word) => (
                <Badge key={word}>{word}</Badge>
              ))}
            </dd>
          </div>
        )}
        {suggestions.length > 0 && (
          <Fact name="Try">
            <ul>
              {suggestions.map((one) => (
                <li key={one} dir="auto">
                  {one}
                </li>
              ))}
            </ul>
          </Fact>
        )}
      </dl>
    </Panel>
  )
}

const writesWords: Readonly<Record<NonNullable<Agent['host']>['writes'], string>> = {
  worktree: 'In a copy of its own. You approve its changes before they are written',
  client: 'Asks for each file',
}

/** What an agent can do, in words, out of what AG-UI calls its capabilities. Unknown ones are left out. */
export function capabilityWords(capabilities: Readonly<Record<string, unknown>>): string[] {
  const words: string[] = []
  for (const [path, word] of known) if (at(capabilities, path) === true) words.push(word)
  const [steps, time] = [at(capabilities, 'execution.maxIterations'), at(capabilities, 'execution.maxExecutionTime')]
  if (typeof steps === 'number') words.push(`At most ${steps} steps`)
  if (typeof time === 'number') words.push(`At most ${timeWords(time)} a run`)
  return words
}

const timeWords = (ms: number): string => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${Math.round(ms / 1_000)} s`)

const known: readonly (readonly [path: string, word: string])[] = [
  ['transport.streaming', 'Streams its answers'],
  ['transport.resumable', 'Streams can be resumed'],
  ['humanInTheLoop.approvals', 'Asks for approval'],
  ['reasoning.supported', 'Shows its reasoning'],
  ['multimodal.input.image', 'Takes pictures'],
  ['multimodal.input.pdf', 'Takes PDF files'],
  ['output.structuredOutput', 'Answers in a fixed form'],
  ['multiAgent.supported', 'Hands work to other agents'],
  ['tools.clientProvided', 'Uses tools of the page'],
  ['state.persistentState', 'Keeps its state'],
]

function at(value: unknown, path: string): unknown {
  let place = value
  for (const name of path.split('.')) {
    if (!isRecord(place)) return undefined
    place = place[name]
  }
  return place
}
