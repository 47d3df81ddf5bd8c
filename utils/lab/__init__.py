"""What only maintainers run, as simple as it can be. What came of it is in docs/laboratory/.

teach, search_records     more to learn from: what a USI engine, or a network, says of positions
tune                      options of an engine, by games against itself
ladder                    how far apart the levels and opponents of the board are
mate_sets                 how many mates an engine finds
critical_positions        how often a network of Dobutsu shogi keeps the value of a position
othello_learn             patterns, policies, rollouts and cuts of Othello, from games
othello_book              its opening book, which grows by own search
"""
