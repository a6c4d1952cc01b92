import { Conversation } from './Conversation.tsx'
import { NewChat } from './NewChat.tsx'

export default function ChatPage({ id }: { id: string | null }) {
  return id === null ? <NewChat /> : <Conversation id={id} />
}
