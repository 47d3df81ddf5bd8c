// What the page says, in English and Japanese.

const ENGLISH = {
  title: 'pydlshogi board', shogi: 'Shogi', dobutsu: 'Dobutsu shogi', othello: 'Othello', pass: 'Pass', passed: '(the other side had to pass)',
  'more discs': 'by discs', 'equal discs': 'with equal discs', language: '日本語',
  newGame: 'New game', undo: 'Undo', resign: 'Resign', declare: 'Declare a win', hint: 'Hint', turn: 'Turn board',
  watch: 'Show thinking', pause: 'Stop thinking', policy: 'Policy', open: 'Open a record', judge: 'Analyse the game', save: 'Save (KIF)', lineCount: 'Candidates shown',
  stop: 'Stop the analysis', previousMistake: 'Previous mistake', nextMistake: 'Next mistake', first: 'First', back: 'Back',
  forward: 'Forward', lastMove: 'Last', start: 'Start', cancel: 'Cancel', game: 'Game', black: 'Black', white: 'White',
  position: 'Begin from', sfen: 'or from an sfen', paste: 'Paste CSA, KIF or KI2 here, or choose a file',
  person: 'a person', beginner: 'engine: beginner', easy: 'engine: easy', medium: 'engine: medium', hard: 'engine: hard',
  'full strength': 'engine: full strength', 'policy only': 'engine: policy only', 'one move ahead': 'engine: one move ahead',
  even: 'even game', 'lance handicap': 'lance handicap', 'bishop handicap': 'bishop handicap', 'rook handicap': 'rook handicap',
  'rook and lance': 'rook and lance handicap', 'two pieces': 'two-piece handicap', 'four pieces': 'four-piece handicap',
  'six pieces': 'six-piece handicap', board: 'board', empty: 'empty', target: 'can go here', movable: 'can move',
  inHand: 'in hand', blacksHand: "Black's hand", whitesHand: "White's hand", promoteOrNot: 'Promote?', promote: 'promote',
  doNotPromote: 'do not promote', toMove: 'to move', thinks: 'the engine thinks', move: 'Move', win: 'Win', visits: 'Visits',
  line: 'Line', connecting: 'connecting', gone: 'The server does not answer: start it again.',
  tokenless: 'Open the address that the program printed, with all that follows the #.',
  visitsPerSecond: 'visits/s', graph: "Black's win rate, move by move", candidates: 'Candidates', moves: 'Moves',
  analysed: 'analysed', wins: 'wins', nobody: 'A draw', mate: 'by mate', repetition: 'by repetition',
  'perpetual check': 'because of perpetual check', resignation: 'by resignation', declaration: 'by declaration',
  try: 'by bringing the lion home (try)', 'lion caught': 'by catching the lion', found: 'best move',
  lost: 'lost a move', '??': 'blunders', '?': 'mistakes', '?!': 'inaccuracies', better: 'better', of: 'of',
  confirmResign: 'Resign this game?', keys: 'Keys: arrows and Enter move pieces; outside the board ← → step through the ' +
    'game, u undoes, h hints, a shows the thinking, p the policy, P passes, m and M go to mistakes, f turns the board.'
}

const JAPANESE = {
  title: 'pydlshogi 盤', shogi: '将棋', dobutsu: 'どうぶつしょうぎ', othello: 'オセロ', pass: 'パス', passed: '(相手はパス)', disc: '石',
  'more discs': '(石の数)', 'equal discs': '(石の数が同じ)', language: 'English',
  newGame: '新規対局', undo: '待った', resign: '投了', declare: '入玉宣言', hint: 'ヒント', turn: '盤を回す',
  watch: '読みを見る', pause: '読みを止める', policy: '方策', open: '棋譜を開く', judge: '棋譜解析', save: '保存 (KIF)', lineCount: '候補手の数', stop: '解析を止める',
  previousMistake: '前の悪手', nextMistake: '次の悪手', first: '最初', back: '戻る', forward: '進む', lastMove: '最後',
  start: '開始', cancel: 'やめる', game: 'ゲーム', black: '先手', white: '後手', position: '手合割', sfen: 'または局面 (sfen)',
  paste: 'CSA・KIF・KI2 を貼り付けるか、ファイルを選ぶ', person: '人', beginner: 'エンジン: 入門', easy: 'エンジン: 初級',
  medium: 'エンジン: 中級', hard: 'エンジン: 上級', 'full strength': 'エンジン: 最強', 'policy only': 'エンジン: 方策のみ',
  'one move ahead': 'エンジン: 一手読み', even: '平手', 'lance handicap': '香落ち', 'bishop handicap': '角落ち', 'rook handicap': '飛車落ち',
  'rook and lance': '飛香落ち', 'two pieces': '二枚落ち', 'four pieces': '四枚落ち', 'six pieces': '六枚落ち',
  board: '盤', empty: '空き', target: '動ける', movable: '動かせる', inHand: '枚、持ち駒', blacksHand: '先手の持ち駒',
  whitesHand: '後手の持ち駒', promoteOrNot: '成りますか', promote: '成る', doNotPromote: '成らない', toMove: 'の手番',
  thinks: 'エンジンが考えています', move: '手', win: '勝率', visits: '訪問', line: '読み筋', connecting: '接続中',
  gone: 'サーバーが応答しません。もう一度起動してください。',
  tokenless: '表示されたアドレスを # の後まで全部開いてください。', visitsPerSecond: '訪問/秒', graph: '先手の勝率',
  candidates: '候補手', moves: '指し手', analysed: '解析済み', wins: 'の勝ち', nobody: '引き分け', mate: '(詰み)',
  repetition: '(千日手)', 'perpetual check': '(連続王手の千日手)', resignation: '(投了)', declaration: '(入玉宣言)',
  try: '(トライ)', 'lion caught': '(ライオンを捕まえた)', found: '最善手', lost: '一手平均の損', '??': '大悪手', '?': '悪手',
  '?!': '疑問手', better: '最善', of: '/', confirmResign: '投了しますか', keys: 'キー: 盤上は矢印と Enter。盤の外では ← → で' +
    '手を進め、u 待った、h ヒント、a 読み、p 方策、P パス、m と M で悪手、f で盤を回します。',
  king: '玉', rook: '飛', bishop: '角', lance: '香', gold: '金', silver: '銀', knight: '桂', pawn: '歩', dragon: '龍', horse: '馬', 'promoted silver': '成銀',
  'promoted knight': '成桂', 'promoted lance': '成香', tokin: 'と', lion: 'ライオン', elephant: 'ぞう', giraffe: 'きりん',
  chick: 'ひよこ', hen: 'にわとり'
}

export const LANGUAGES = { en: ENGLISH, ja: JAPANESE }

/** The word for `name`; what has none is its own word. */
export function wordIn (language, name) {
  return LANGUAGES[language][name] ?? name
}
