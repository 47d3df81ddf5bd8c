// Sounds, made as they are wanted: a piece that is put down, a disc, the tick of a clock that runs out.
const SOUNDS = { // the middle of a band of noise in Hz, how sharp it is, how long and how loud
  piece: [1500, 1.5, 0.09, 1],
  stone: [3200, 4, 0.06, 0.9],
  tick: [1000, 20, 0.03, 0.5]
}

let context = null // browsers want a press of a button or key before they let one be heard

export function sound (name) {
  context ??= new AudioContext()
  if (context.state === 'suspended') context.resume()
  const [frequency, Q, seconds, loud] = SOUNDS[name]
  const buffer = context.createBuffer(1, Math.ceil(seconds * context.sampleRate), context.sampleRate)
  const samples = buffer.getChannelData(0)
  for (let i = 0; i < samples.length; i++) samples[i] = (2 * Math.random() - 1) * loud * (1 - i / samples.length) ** 4
  const source = new AudioBufferSourceNode(context, { buffer })
  source.connect(new BiquadFilterNode(context, { type: 'bandpass', frequency, Q })).connect(context.destination)
  source.start()
}
