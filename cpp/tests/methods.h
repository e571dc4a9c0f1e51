// The Runge-Kutta methods that the tests integrate with.
#pragma once

#include "denots/solve.h"

namespace denots::check {

// Dormand and Prince, with the quartic through both ends and the middle of a step.
struct DormandPrince {
  double nodes[7] = {0.0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1.0, 1.0};
  double weights[49] = {0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,  //
                        1. / 5,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,  //
                        3. / 40,
                        9. / 40,
                        0,
                        0,
                        0,
                        0,
                        0,  //
                        44. / 45,
                        -56. / 15,
                        32. / 9,
                        0,
                        0,
                        0,
                        0,  //
                        19372. / 6561,
                        -25360. / 2187,
                        64448. / 6561,
                        -212. / 729,
                        0,
                        0,
                        0,  //
                        9017. / 3168,
                        -355. / 33,
                        46732. / 5247,
                        49. / 176,
                        -5103. / 18656,
                        0,
                        0,  //
                        35. / 384,
                        0,
                        500. / 1113,
                        125. / 192,
                        -2187. / 6784,
                        11. / 84,
                        0};
  double error[7] = {71. / 57600, 0.0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
  double dense[28];

  DormandPrince() {
    const double middle[7] = {6025192743. / 60171106304,     0.0,
                              51252292925. / 130801643196,   -2691868925. / 90256659456,
                              187940372067. / 3189068634112, -1776094331. / 39487288512,
                              11237099. / 470086768};
    const double of_end[4] = {0, -5, 14, -8}, of_middle[4] = {0, 16, -32, 16};
    const double of_first[4] = {1, -4, 5, -2}, of_last[4] = {0, 1, -3, 2};
    for (int s = 0; s < 7; ++s)
      for (int p = 0; p < 4; ++p)
        dense[s * 4 + p] = weights[42 + s] * of_end[p] + middle[s] * of_middle[p] +
                           (s == 0 ? of_first[p] : 0) + (s == 6 ? of_last[p] : 0);
  }
  Method view() const { return {7, 5, 4, nodes, weights, error, dense}; }
};

// Tsitouras, with the cubic through both ends and their slopes.
struct Tsitouras {
  double nodes[7] = {0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0};
  double weights[49] = {};
  double error[7] = {-0.00178001105222577714,
                     -0.0008164344596567469,
                     0.007880878010261995,
                     -0.1447110071732629,
                     0.5823571654525552,
                     -0.45808210592918697,
                     1. / 66};
  double dense[21];

  Tsitouras() {
    const double rows[7][6] = {
        {},
        {0.161},
        {-0.008480655492356989, 0.335480655492357},
        {2.8971530571054935, -6.359448489975075, 4.3622954328695815},
        {5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
        {5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
        {0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
         2.324710524099774}};
    const double of_end[3] = {0, 3, -2}, of_first[3] = {1, -2, 1}, of_last[3] = {0, -1, 1};
    for (int s = 0; s < 7; ++s) {
      for (int j = 0; j < 6; ++j) weights[s * 7 + j] = rows[s][j];
      for (int p = 0; p < 3; ++p)
        dense[s * 3 + p] =
            (s < 6 ? rows[6][s] : 0) * of_end[p] + (s == 0 ? of_first[p] : 0) + (s == 6 ? of_last[p] : 0);
    }
  }
  Method view() const { return {7, 5, 3, nodes, weights, error, dense}; }
};

// Bogacki and Shampine, with the cubic through both ends and their slopes.
struct BogackiShampine {
  double nodes[4] = {0.0, 1. / 2, 3. / 4, 1.0};
  double weights[16] = {0, 0, 0, 0, 1. / 2, 0, 0, 0, 0, 3. / 4, 0, 0, 2. / 9, 1. / 3, 4. / 9, 0};
  double error[4] = {-5. / 72, 1. / 12, 1. / 9, -1. / 8};
  double dense[12];

  BogackiShampine() {
    const double of_end[3] = {0, 3, -2}, of_first[3] = {1, -2, 1}, of_last[3] = {0, -1, 1};
    for (int s = 0; s < 4; ++s)
      for (int p = 0; p < 3; ++p)
        dense[s * 3 + p] =
            weights[12 + s] * of_end[p] + (s == 0 ? of_first[p] : 0) + (s == 3 ? of_last[p] : 0);
  }
  Method view() const { return {4, 3, 3, nodes, weights, error, dense}; }
};

// Owren and Zennaro, with dense output of fourth order and a safety of its own.
struct OwrenZennaro {
  double nodes[6] = {0.0, 1. / 6, 11. / 37, 11. / 17, 13. / 15, 1.0};
  double weights[36] = {};
  double error[6] = {-553. / 3146, 0, 483257. / 1006720, -1666663. / 3252480, 3375. / 23296, 79. / 1248};
  double dense[24] = {1.0,
                      -104217. / 37466,
                      1806901. / 618189,
                      -866577. / 824252,  //
                      0,
                      0,
                      0,
                      0,  //
                      0,
                      861101. / 230560,
                      -2178079. / 380424,
                      12308679. / 5072320,  //
                      0,
                      -63869. / 293440,
                      6244423. / 5325936,
                      -7816583. / 10144640,  //
                      0,
                      -1522125. / 762944,
                      982125. / 190736,
                      -624375. / 217984,  //
                      0,
                      165. / 131,
                      -461. / 131,
                      296. / 131};

  OwrenZennaro() {
    const double rows[6][5] = {{},
                               {1. / 6},
                               {44. / 1369, 363. / 1369},
                               {3388. / 4913, -8349. / 4913, 8140. / 4913},
                               {-36764. / 408375, 767. / 1125, -32708. / 136125, 210392. / 408375},
                               {1697. / 18876, 0, 50653. / 116160, 299693. / 1626240, 3375. / 11648}};
    for (int s = 0; s < 6; ++s)
      for (int j = 0; j < 5; ++j) weights[s * 6 + j] = rows[s][j];
  }
  Method view() const { return {6, 4, 4, nodes, weights, error, dense, 0.7}; }
};

}  // namespace denots::check
