import { useInfiniteQuery } from '@tanstack/react-query'
import { useTitle } from '../app/title.ts'
import { useClient } from '../data/server.tsx'
import { given } from '../given.ts'
import { ChatAction } from '../pages/chat/ChatAction.tsx'
import { ChatEntry } from '../pages/chat/ChatEntry.tsx'
import { Button } from '../parts/Button.tsx'
import { ChatIcon, NewIcon, SettingsIcon } from '../parts/icons.ts'
import { Page } from '../parts/Page.tsx'
import { Empty, Pending } from '../parts/States.tsx'
import styles from './ChatsPage.module.css'

const PAGE = 50

/** All chats of whoever is signed in, newest first. */
export default function ChatsPage() {
  useTitle('Chats')
  const client = useClient()
  const chats = useInfiniteQuery({
    queryKey: ['sessions', 'all'],
    queryFn: ({ signal, pageParam }) =>
      client.sessions.list({ kind: 'chat', limit: PAGE, ...given({ before: pageParam }), signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })
  const all = chats.data?.pages.flatMap(({ sessions }) => sessions) ?? []
  return (
    <Page
      title="Chats"
      actions={
        <>
          <ChatAction href="/settings" icon={<SettingsIcon />}>
            Settings
          </ChatAction>
          <ChatAction href="/chat" icon={<NewIcon />}>
            New chat
          </ChatAction>
        </>
      }
    >
      {!chats.isSuccess && <Pending query={chats} />}
      {chats.isSuccess && all.length === 0 && (
        <Empty title="No chats yet" icon={<ChatIcon />}>
          Your chats will be here.
        </Empty>
      )}
      <ul className={styles.list}>
        {all.map((session) => (
          <li key={session.session_id}>
            <ChatEntry session={session} />
          </li>
        ))}
      </ul>
      {chats.hasNextPage && (
        <Button isBusy={chats.isFetchingNextPage} onClick={() => void chats.fetchNextPage()}>
          Earlier chats
        </Button>
      )}
    </Page>
  )
}
