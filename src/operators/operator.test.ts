import { describeOperator } from './operator.contract.ts'
import { createRecordingChannel } from './testing/recording-channel.ts'

describeOperator('recording', (desk) => {
  const channel = createRecordingChannel(desk)
  return { channel, messages: channel.messages, behave: channel.behave, press: channel.press }
})
